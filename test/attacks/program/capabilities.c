/* Powers that root inside does not have, and ways to get them back. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Those of docs/security.md. */
#define KEPT 0xa00425fbULL
#define UNMAPPED 70000

static uint64_t capabilities_of(const char *line) {
  char text[4096];
  if (read_text("/proc/self/status", text, sizeof text) < 0) exit(3);
  const char *found = strstr(text, line);
  return found ? strtoull(found + strlen(line), NULL, 16) : 0;
}

static struct finding beyond_kept(uint64_t found) {
  return found & ~KEPT ? succeeded("has %llx", (unsigned long long)(found & ~KEPT)) : refused("has none of the others");
}

static struct finding set_all(const void *with) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct all[2] = {{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}};
  syscall(SYS_capset, &header, all);
  return beyond_kept(capabilities_of("CapEff:"));
}

static struct finding look_at(const void *line) { return beyond_kept(capabilities_of(line)); }

static struct finding raise_ambient(const void *with) {
  if (in_weak_place()) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct all[2];
    if (syscall(SYS_capget, &header, all)) return broken("capget");
    all[0].inheritable = all[0].permitted;
    if (syscall(SYS_capset, &header, all)) return broken("capset");
  }
  return judge(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0), "ambient CAP_SYS_ADMIN");
}

static bool copy_shell(const char *to) {
  char command[600];
  snprintf(command, sizeof command, "cp /usr/bin/grep %s", to);
  return system(command) == 0;
}

/* The capabilities of a program that was started from `path`. */
static struct finding run_copy(const char *path) {
  char command[700], line[128] = "";
  snprintf(command, sizeof command, "%s CapEff: /proc/self/status", path);
  FILE *output = popen(command, "r");
  if (!output || !fgets(line, sizeof line, output)) return refused("the program did not start");
  pclose(output);
  return beyond_kept(strtoull(line + strlen("CapEff:"), NULL, 16));
}

static struct finding by_file_attribute(const void *with) {
  struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};
  data.data[0].permitted = 1U << CAP_SYS_ADMIN;
  if (!copy_shell(scratch("able"))) return broken("copy");
  if (setxattr(scratch("able"), "security.capability", &data, sizeof data, 0)) return judge(-1, "file capabilities");
  return run_copy(scratch("able"));
}

static struct finding by_setuid_file(const void *with) {
  if (!copy_shell(scratch("suid"))) return broken("copy");
  if (chmod(scratch("suid"), 04755)) return broken("chmod");
  return run_copy(scratch("suid"));
}


static struct finding be_unmapped_user(const void *with) { return judge(syscall(SYS_setresuid, UNMAPPED, UNMAPPED, UNMAPPED), "setresuid"); }
static struct finding be_unmapped_group(const void *with) { return judge(syscall(SYS_setresgid, UNMAPPED, UNMAPPED, UNMAPPED), "setresgid"); }
static struct finding join_unmapped_group(const void *with) { return judge(setgroups(1, &(gid_t){UNMAPPED}), "setgroups"); }

static struct finding give_to_unmapped(const void *with) {
  if (!write_text(scratch("file"), "x")) return broken("scratch file");
  return judge(chown(scratch("file"), UNMAPPED, UNMAPPED), "chown");
}

static struct finding be_nicer(const void *with) { return judge(setpriority(PRIO_PROCESS, 0, -10), "nice -10"); }

static struct finding be_realtime(const void *with) {
  return judge(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}), "SCHED_FIFO");
}

static struct finding be_first_at_disk(const void *with) {
  return judge(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 0)), "ioprio_set");
}

static struct finding raise_limit(const void *resource) {
  struct rlimit limit;
  if (getrlimit((int)(long)resource, &limit)) return broken("getrlimit");
  if (limit.rlim_max == RLIM_INFINITY) return succeeded("has no limit");
  limit.rlim_cur = limit.rlim_max = limit.rlim_max + 1;
  return judge(syscall(SYS_setrlimit, (long)resource, &limit), "setrlimit");
}

static struct finding lock_memory(const void *with) {
  size_t size = 64 << 20;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mlock(memory, size) && errno == ENOMEM) return refused("mlock: ENOMEM");
  return judge(mlock(memory, size), "mlock of 64 MiB");
}

static struct finding be_spared(const void *with) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY);
  return judge(syscall(SYS_pwrite64, fd, "-900", 4, 0), "oom_score_adj -900");
}

static struct finding name_host(const void *with) { return judge(sethostname("attack", 6), "sethostname"); }
static struct finding name_domain(const void *with) { return judge(setdomainname("attack", 6), "setdomainname"); }
static struct finding wake_machine(const void *with) { return judge(timerfd_create(CLOCK_REALTIME_ALARM, 0), "alarm timer"); }

static const struct attack attacks[] = {
    {"capability-set", set_all},
    {"capability-bounding", look_at, "CapBnd:"},
    {"capability-permitted", look_at, "CapPrm:"},
    {"capability-ambient", raise_ambient},
    {"capability-by-file", by_file_attribute},
    {"capability-by-setuid", by_setuid_file},
    {"setuid-unmapped", be_unmapped_user},
    {"setgid-unmapped", be_unmapped_group},
    {"setgroups-unmapped", join_unmapped_group},
    {"chown-unmapped", give_to_unmapped},
    {"nice-below-zero", be_nicer},
    {"realtime", be_realtime},
    {"io-realtime", be_first_at_disk},
    {"limit-raise-files", raise_limit, (const void *)RLIMIT_NOFILE, DONE(SYS_setrlimit)},
    {"limit-raise-signals", raise_limit, (const void *)RLIMIT_SIGPENDING, DONE(SYS_setrlimit)},
    {"limit-raise-queues", raise_limit, (const void *)RLIMIT_MSGQUEUE, DONE(SYS_setrlimit)},
    {"limit-raise-locked-memory", raise_limit, (const void *)RLIMIT_MEMLOCK, DONE(SYS_setrlimit)},
    {"memory-lock", lock_memory},
    {"oom-protection", be_spared, NULL, DONE(SYS_pwrite64)},
    {"hostname-set", name_host},
    {"domainname-set", name_domain},
    {"wake-alarm", wake_machine},
};
SUBJECT(capability_attacks, attacks);
