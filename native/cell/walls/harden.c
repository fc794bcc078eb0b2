/* What is taken away inside: capabilities, and what the kernel counts by user. For system calls see filter.c. */
#define _GNU_SOURCE
#include "cell.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What container runtimes leave to root, without CAP_MKNOD. */
static const int kept_capabilities[] = {
    CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FOWNER,           CAP_FSETID,  CAP_KILL,
    CAP_SETGID,  CAP_SETUID,       CAP_SETPCAP,          CAP_SETFCAP, CAP_NET_BIND_SERVICE,
    CAP_NET_RAW, CAP_SYS_CHROOT,   CAP_AUDIT_WRITE,
};

void drop_capabilities(void) {
  uint64_t kept = 0;
  for (size_t i = 0; i < sizeof kept_capabilities / sizeof *kept_capabilities; i++)
    kept |= 1ULL << kept_capabilities[i];
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) die("prctl", "bounding set");
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  for (int half = 0; half < 2; half++) {
    uint32_t word = (uint32_t)(kept >> (32 * half));
    data[half] = (struct __user_cap_data_struct){.effective = word, .permitted = word};
  }
  if (syscall(SYS_capset, &header, data)) die("capset", "kept capabilities");
}

struct bound {
  int resource;
  rlim_t soft, hard;
  const char *name;
};

/* Memory of the kernel that no cgroup counts. */
static const struct bound of_namespaces[] = {
    {RLIMIT_SIGPENDING, 8192, 8192, "queued signals and timers"},
    {RLIMIT_MSGQUEUE, 819200, 819200, "bytes in message queues"}, /* the kernel's default */
    {RLIMIT_MEMLOCK, 64 << 20, 64 << 20, "locked memory"},
};

static const struct bound of_processes[] = {
    {RLIMIT_NOFILE, 65536, 524288, "open files"},
    {RLIMIT_RTPRIO, 0, 0, "real-time priority"},
    {RLIMIT_NICE, 0, 0, "priority"},
};

static rlim_t least(rlim_t one, rlim_t other) { return one < other ? one : other; }

/* A host that allows less keeps its limits. */
static void set_bound(const struct bound *bound, rlim_t hard) {
  struct rlimit limit;
  if (getrlimit(bound->resource, &limit)) die("getrlimit", bound->name);
  limit.rlim_max = least(limit.rlim_max, hard);
  limit.rlim_cur = least(limit.rlim_max, bound->soft);
  if (setrlimit(bound->resource, &limit)) die("setrlimit", bound->name);
}

void bound_namespace(void) {
  for (size_t i = 0; i < sizeof of_namespaces / sizeof *of_namespaces; i++)
    set_bound(&of_namespaces[i], RLIM_INFINITY);
}

void bound_cell(void) {
  for (size_t i = 0; i < sizeof of_namespaces / sizeof *of_namespaces; i++)
    set_bound(&of_namespaces[i], of_namespaces[i].hard);
  for (size_t i = 0; i < sizeof of_processes / sizeof *of_processes; i++)
    set_bound(&of_processes[i], of_processes[i].hard);
}
