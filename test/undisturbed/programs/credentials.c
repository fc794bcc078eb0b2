/* Who a process is, what it may do, and which namespaces it lives in. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Lines of /proc/self/status that begin with any of the keys. */
static void watch_lines(const char *const keys[]) {
  char *was[20], *text = slurp("/proc/self/status");
  for (int i = 0; keys[i]; i++) was[i] = line_of(text, keys[i]);
  hold();
  text = slurp("/proc/self/status");
  for (int i = 0; keys[i]; i++) same_text("/proc/self/status", was[i], line_of(text, keys[i]));
}

static void users_and_groups(void) {
  gid_t groups[] = {7, 8, 9};
  MUST(setgroups(3, groups));
  MUST(setresgid(11, 12, 13));
  MUST(setresuid(1001, 1002, 1003));
  watch_lines((const char *const[]){"Uid:", "Gid:", "Groups:", NULL});
}

static void capabilities(void) {
  MUST(prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0));
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  MUST(syscall(SYS_capget, &head, data));
  data[0].inheritable = 1 << CAP_CHOWN | 1 << CAP_KILL;
  data[0].effective &= ~(1U << CAP_FOWNER);
  MUST(syscall(SYS_capset, &head, data));
  MUST(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_KILL, 0, 0));
  watch_lines((const char *const[]){"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", NULL});
}

static void secure_bits(void) {
  long bits = SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP;
  MUST(prctl(PR_SET_SECUREBITS, bits, 0, 0, 0));
  hold();
  same("secure bits", bits, prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
}

/* A filter that gives getppid an error of its own. */
static void system_call_filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {4, code};
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0));
  watch_lines((const char *const[]){"Seccomp:", "Seccomp_filters:", "NoNewPrivs:", NULL});
  EXPECT(syscall(SYS_getppid) < 0 && errno == ENOTTY);
}

static void namespaces(void) {
  static const char *const names[] = {"cgroup",           "ipc",  "mnt", "net",  "pid",
                                      "pid_for_children", "user", "uts", "time", "time_for_children"};
  char was[10][64], is[64], path[64];
  for (int i = 0; i < 10; i++) {
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
    was[i][MUST(readlink(path, was[i], 63))] = 0;
  }
  hold();
  for (int i = 0; i < 10; i++) {
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
    is[MUST(readlink(path, is, 63))] = 0;
    same_text("namespace", was[i], is);
  }
}

/* A descriptor of a namespace, by which it can be told from others. */
static void namespace_descriptor(void) {
  int fd = MUST(open("/proc/self/ns/uts", O_RDONLY));
  struct stat was, is;
  MUST(fstat(fd, &was));
  hold();
  MUST(fstat(fd, &is));
  same("inode", (long)was.st_ino, (long)is.st_ino);
  same("device", (long)was.st_dev, (long)is.st_dev);
  same("kind", CLONE_NEWUTS, ioctl(fd, NS_GET_NSTYPE));
}

static void machine(void) {
  struct utsname was, is;
  MUST(uname(&was));
  char *boot = slurp("/proc/sys/kernel/random/boot_id"), *id = slurp("/etc/machine-id"),
       *start = line_of(slurp("/proc/stat"), "btime"), *offsets = slurp("/proc/self/timens_offsets");
  hold();
  MUST(uname(&is));
  EXPECT(memcmp(&was, &is, sizeof was) == 0);
  same_text("boot id", boot, slurp("/proc/sys/kernel/random/boot_id"));
  same_text("machine id", id, slurp("/etc/machine-id"));
  same_text("time of booting", start, line_of(slurp("/proc/stat"), "btime"));
  same_text("offsets of clocks", offsets, slurp("/proc/self/timens_offsets"));
}

/* Addresses without their flags, which change while the kernel looks for duplicates. */
static char *addresses(void) {
  char *text = slurp("/proc/net/if_inet6"), *rest = text, *kept = calloc(1, strlen(text) + 2), line_address[40],
       name[20];
  for (char *line; (line = strsep(&rest, "\n"));)
    if (sscanf(line, "%39s %*s %*s %*s %*s %19s", line_address, name) == 2)
      strcat(strcat(strcat(kept, line_address), name), " ");
  return kept;
}
static void interfaces(void) {
  char *was = addresses(), *route = slurp("/proc/net/route"), *index = slurp("/sys/class/net/lo/ifindex");
  hold();
  same_text("addresses", was, addresses());
  same_text("routes", route, slurp("/proc/net/route"));
  same_text("index of lo", index, slurp("/sys/class/net/lo/ifindex"));
}

static void uptime(void) {
  double first, is, begin = now();
  sscanf(slurp("/proc/uptime"), "%lf", &first);
  ready();
  do {
    sscanf(slurp("/proc/uptime"), "%lf", &is);
    double drift = is - first - (now() - begin);
    if (drift > 0.5 || drift < -0.5) notice("uptime jumped by %.3f s", drift);
    rest(0.05);
  } while (!is_over() && !has_noticed());
}

const struct program credential_programs[] = {
    {"users-and-groups", users_and_groups},
    {"capabilities", capabilities},
    {"secure-bits", secure_bits},
    {"system-call-filter", system_call_filter},
    {"namespaces", namespaces},
    {"namespace-descriptor", namespace_descriptor},
    {"machine", machine},
    {"interfaces", interfaces},
    {"uptime", uptime},
    {0},
};
