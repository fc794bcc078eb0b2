/* What root inside a cell does not have: capabilities, and large shares of what the kernel counts per user. System
 * calls are in filter.c. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "walls.h"

/* Those that container runtimes leave to root, without CAP_MKNOD. */
static const int kept_capabilities[] = {
    CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FOWNER,  CAP_FSETID,           CAP_KILL,       CAP_SETGID,      CAP_SETUID,
    CAP_SETPCAP, CAP_SETFCAP,      CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_AUDIT_WRITE,
};

void drop_capabilities(void) {
  uint64_t kept = 0;
  for (size_t i = 0; i < sizeof kept_capabilities / sizeof *kept_capabilities; i++)
    kept |= 1ULL << kept_capabilities[i];
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) die("prctl PR_CAPBSET_DROP %d", cap);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  for (int half = 0; half < 2; half++) {
    uint32_t word = (uint32_t)(kept >> (32 * half));
    data[half] = (struct __user_cap_data_struct){.effective = word, .permitted = word};
  }
  if (syscall(SYS_capset, &header, data)) die("capset 0x%llx", (unsigned long long)kept);
}

#define FILES_OF_CRIU 512

struct bound {
  int resource;
  rlim_t soft, hard;
  const char *name;
};

/* Kernel memory that no cgroup counts. */
static const struct bound of_namespaces[] = {
    {RLIMIT_SIGPENDING, 8192, 8192, "RLIMIT_SIGPENDING"},
    {RLIMIT_MSGQUEUE, 819200, 819200, "RLIMIT_MSGQUEUE"}, /* the kernel's default */
    {RLIMIT_MEMLOCK, 64 << 20, 64 << 20, "RLIMIT_MEMLOCK"},
};

static const struct bound of_processes[] = {
    {RLIMIT_NOFILE, 65536, 524288, "RLIMIT_NOFILE"},
    {RLIMIT_RTPRIO, 0, 0, "RLIMIT_RTPRIO"},
    {RLIMIT_NICE, 0, 0, "RLIMIT_NICE"},
};

static rlim_t least(rlim_t one, rlim_t other) { return one < other ? one : other; }

/* During a restore, CRIU has files of its own open in each process, above all others. A program may use the highest
 * number that it can get: valgrind does. Not every root can raise the limit for CRIU. */
static rlim_t room_for_criu(const struct bound *bound, rlim_t most) {
  return bound->resource == RLIMIT_NOFILE && most > 2 * FILES_OF_CRIU ? FILES_OF_CRIU : 0;
}

/* Lower limits of the host stay as they are. */
static void set_bound(const struct bound *bound, rlim_t hard) {
  struct rlimit limit;
  if (getrlimit(bound->resource, &limit)) die("getrlimit %s", bound->name);
  limit.rlim_max = least(limit.rlim_max - room_for_criu(bound, limit.rlim_max), hard);
  limit.rlim_cur = least(limit.rlim_max, bound->soft);
  if (setrlimit(bound->resource, &limit)) die("setrlimit %s", bound->name);
}

void bound_namespace(void) {
  for (size_t i = 0; i < sizeof of_namespaces / sizeof *of_namespaces; i++) set_bound(&of_namespaces[i], RLIM_INFINITY);
}

void bound_cell(void) {
  for (size_t i = 0; i < sizeof of_namespaces / sizeof *of_namespaces; i++)
    set_bound(&of_namespaces[i], of_namespaces[i].hard);
  for (size_t i = 0; i < sizeof of_processes / sizeof *of_processes; i++)
    set_bound(&of_processes[i], of_processes[i].hard);
}
