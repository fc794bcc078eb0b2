/* Files of the kernel in /proc and /sys: those that change the machine, and those that reveal others. */
#define _GNU_SOURCE
#include "attack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Being allowed to open it for writing is enough; nothing is written. */
static struct finding open_to_write(const void *path) { return judge(open(path, O_WRONLY | O_CLOEXEC), path); }

static struct finding read_any(const void *path) {
  char text[4096 + 1]; /* some give out whole words only */
  ssize_t length = read_text(path, text, sizeof text);
  if (length < 0) return judge(-1, path);
  return length > 0 ? succeeded("read %zd bytes of %s", length, (const char *)path) : refused("%s is empty", (const char *)path);
}

/* Reading would take messages away from readers on the host. */
static struct finding read_kmsg(const void *path) { return judge(open(path, O_RDONLY | O_NONBLOCK), path); }

static struct finding list_any(const void *path) {
  DIR *directory = opendir(path);
  if (!directory) return judge(-1, path);
  size_t entries = 0;
  while (readdir(directory)) entries++;
  return entries > 2 ? succeeded("%zu entries in %s", entries - 2, (const char *)path) : refused("%s is empty", (const char *)path);
}

/* Addresses are zeros for whoever may not know them. */
static struct finding read_addresses(const void *path) {
  FILE *file = fopen(path, "re");
  if (!file) return judge(-1, path);
  char line[512];
  while (fgets(line, sizeof line, file)) {
    const char *at = line;
    while (isspace((unsigned char)*at)) at++;
    for (; isxdigit((unsigned char)*at); at++)
      if (*at != '0') return succeeded("%s has addresses", (const char *)path);
  }
  return refused("%s has no addresses", (const char *)path);
}

static struct finding read_own_frames(const void *with) {
  uint64_t entry = 0;
  volatile char used[4096];
  used[0] = 1;
  int fd = open("/proc/self/pagemap", O_RDONLY);
  off_t at = (off_t)((uintptr_t)used / 4096 * sizeof entry);
  if (fd < 0 || pread(fd, &entry, sizeof entry, at) != sizeof entry) return judge(-1, "pagemap");
  return entry & ((1ULL << 55) - 1) ? succeeded("knows the frame of a page") : refused("frames are hidden");
}

static struct finding search_for_home(const void *pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found)) return refused("no %s", (const char *)pattern);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char text[4096];
    if (read_text(found.gl_pathv[i], text, sizeof text) > 1) return succeeded("%.50s says %.80s", found.gl_pathv[i], text);
  }
  return refused("they say nothing");
}

/* The home and the slot are in the path of the cgroup. */
static struct finding read_cgroup(const void *path) {
  char text[4096];
  if (read_text(path, text, sizeof text) <= 0) return judge(-1, path);
  return strstr(text, "forkpoint") ? succeeded("%s names the home", (const char *)path) : refused("%s names nothing", (const char *)path);
}

static struct finding find_variable(const void *with) {
  glob_t found;
  if (glob("/proc/[0-9]*/environ", 0, NULL, &found)) return broken("/proc");
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char text[16384];
    ssize_t length = read_text(found.gl_pathv[i], text, sizeof text);
    if (length > 0 && memmem(text, (size_t)length, "ATTACK_HOST_SECRET=", 19)) return succeeded("found in %s", found.gl_pathv[i]);
  }
  return refused("no process has it");
}


static const struct attack attacks[] = {
    {"sysctl-core-pattern", open_to_write, "/proc/sys/kernel/core_pattern"},
    {"sysctl-hostname", open_to_write, "/proc/sys/kernel/hostname"},
    {"sysctl-panic", open_to_write, "/proc/sys/kernel/panic"},
    {"sysctl-printk", open_to_write, "/proc/sys/kernel/printk"},
    {"sysctl-poweroff-command", open_to_write, "/proc/sys/kernel/poweroff_cmd"},
    {"sysctl-last-pid", open_to_write, "/proc/sys/kernel/ns_last_pid"},
    {"sysctl-randomize", open_to_write, "/proc/sys/kernel/randomize_va_space"},
    {"sysctl-usermodehelper", open_to_write, "/proc/sys/kernel/usermodehelper/bset"},
    {"sysctl-pty-max", open_to_write, "/proc/sys/kernel/pty/max"},
    {"sysctl-keys", open_to_write, "/proc/sys/kernel/keys/maxkeys"},
    {"sysctl-threads", open_to_write, "/proc/sys/kernel/threads-max"},
    {"sysctl-shared-memory", open_to_write, "/proc/sys/kernel/shmmax"},
    {"sysctl-drop-caches", open_to_write, "/proc/sys/vm/drop_caches"},
    {"sysctl-overcommit", open_to_write, "/proc/sys/vm/overcommit_memory"},
    {"sysctl-mmap-min-addr", open_to_write, "/proc/sys/vm/mmap_min_addr"},
    {"sysctl-file-max", open_to_write, "/proc/sys/fs/file-max"},
    {"sysctl-suid-dumpable", open_to_write, "/proc/sys/fs/suid_dumpable"},
    {"sysctl-protected-symlinks", open_to_write, "/proc/sys/fs/protected_symlinks"},
    {"sysctl-pipe-pages", open_to_write, "/proc/sys/fs/pipe-user-pages-soft"},
    {"sysctl-inotify", open_to_write, "/proc/sys/fs/inotify/max_user_instances"},
    {"sysctl-message-queues", open_to_write, "/proc/sys/fs/mqueue/queues_max"},
    {"sysctl-aio", open_to_write, "/proc/sys/fs/aio-max-nr"},
    {"sysctl-ip-forward", open_to_write, "/proc/sys/net/ipv4/ip_forward"},
    {"proc-irq", open_to_write, "/proc/irq/default_smp_affinity"},
    {"proc-mtrr", open_to_write, "/proc/mtrr"},
    {"proc-pressure", open_to_write, "/proc/pressure/memory"},
    {"proc-slabinfo", read_any, "/proc/slabinfo"},
    {"proc-vmallocinfo", read_any, "/proc/vmallocinfo"},
    {"proc-timer-list", read_any, "/proc/timer_list"},
    {"proc-keys", read_any, "/proc/keys"},
    {"proc-kmsg", read_kmsg, "/proc/kmsg"},
    {"proc-kpagecount", read_any, "/proc/kpagecount"},
    {"proc-kpageflags", read_any, "/proc/kpageflags"},
    {"proc-pagetypeinfo", read_any, "/proc/pagetypeinfo"},
    {"proc-iomem", read_addresses, "/proc/iomem"},
    {"proc-kallsyms", read_addresses, "/proc/kallsyms"},
    {"proc-pagemap", read_own_frames},
    {"proc-environ", find_variable},
    {"cgroup-names-home", read_cgroup, "/proc/self/cgroup"},
    {"cgroup-of-init-names-home", read_cgroup, "/proc/1/cgroup"},
    {"loop-backing-file", search_for_home, "/sys/block/loop*/loop/backing_file"},
    {"loop-backing-file-by-class", search_for_home, "/sys/class/block/loop*/loop/backing_file"},
    {"loop-backing-file-by-number", search_for_home, "/sys/dev/block/7:*/loop/backing_file"},
    {"loop-backing-file-by-device", search_for_home, "/sys/devices/virtual/block/loop*/loop/backing_file"},
    {"sys-cgroup", list_any, "/sys/fs/cgroup"},
    {"sys-firmware", list_any, "/sys/firmware"},
    {"sys-tracing", open_to_write, "/sys/kernel/tracing/tracing_on"},
    {"sys-rcu", open_to_write, "/sys/kernel/rcu_expedited"},
    {"sys-profiling", open_to_write, "/sys/kernel/profiling"},
    {"sys-hugepages", open_to_write, "/sys/kernel/mm/transparent_hugepage/enabled"},
    {"sys-cpu-offline", open_to_write, "/sys/devices/system/cpu/cpu1/online"},
    {"sys-clocksource", open_to_write, "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"sys-disk-queue", open_to_write, "/sys/block/loop0/queue/read_ahead_kb"},
    {"sys-uevent", open_to_write, "/sys/devices/virtual/mem/null/uevent"},
    {"sys-interface", open_to_write, "/sys/class/net/lo/mtu"},
};
SUBJECT(kernel_file_attacks, attacks);
