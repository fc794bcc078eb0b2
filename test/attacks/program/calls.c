/* System calls that the filter answers. The arguments do nothing even if the call is allowed: what
 * counts is whether the kernel looked at them. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#define X32 0x40000000

/* Newer than the headers of some machines. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

struct call {
  long number;
  long arguments[5];
};

static struct finding make_call(const void *with) {
  const struct call *call = with;
  const long *a = call->arguments;
  return judge_call(syscall(call->number, a[0], a[1], a[2], a[3], a[4]), "system call");
}

static struct finding read_clock(const void *number) {
  static struct timex clock;
  if ((long)number == SYS_adjtimex) return judge_call(syscall(SYS_adjtimex, &clock), "adjtimex");
  return judge_call(syscall(SYS_clock_adjtime, 0, &clock), "clock_adjtime");
}

static struct finding set_up_aio(const void *with) {
  unsigned long context = 0;
  return judge_call(syscall(SYS_io_setup, 1, &context), "io_setup");
}

static struct finding use_terminal(const void *request) {
  int fd = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY), number = 0;
  if (fd < 0) return broken("/dev/pts/ptmx");
  return judge(ioctl(fd, (unsigned long)request, &number), "ioctl of a terminal");
}

static struct finding attach_filter(const void *option) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  struct sock_fprog program = {.len = 1, .filter = code};
  int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on)) return broken("socket");
  return judge_call(setsockopt(fd, SOL_SOCKET, (int)(long)option, &program, sizeof program), "filter of a socket");
}

static struct finding read_implies_execute(const void *with) {
  return judge(personality(ADDR_COMPAT_LAYOUT | READ_IMPLIES_EXEC), "personality");
}

static struct finding drop_filter(const void *with) {
  if (prctl(PR_GET_SECCOMP) == 0) return succeeded("there is no filter");
  return judge(prctl(PR_SET_SECCOMP, SECCOMP_MODE_DISABLED), "no more filter");
}

#if defined(__x86_64__)
/* The 32-bit getpid, which a filter by 64-bit numbers would mistake for something else. */
static struct finding call_32_bit(const void *with) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
  errno = result < 0 ? -result : 0;
  return judge_call(result < 0 ? -1 : result, "int 0x80");
}
#endif

#define CALL(name, ...) {"call-" #name, make_call, &(const struct call){SYS_##name, {__VA_ARGS__}}}
#define PRETENDED(name, ...) {"call-" #name, make_call, &(const struct call){SYS_##name, {__VA_ARGS__}}, LOOKED_AT(SYS_##name)}
#define NO_PATH (long)"/nonexistent/file"

static const struct attack attacks[] = {
    CALL(io_uring_setup, 1, 0),
    CALL(io_uring_enter, -1),
    CALL(io_uring_register, -1),
    CALL(userfaultfd, 0),
    CALL(clone3, 0, 0),
    CALL(bpf, 0, 0, 0),
    CALL(perf_event_open, 0),
    CALL(keyctl, 0, -3, 0),
    CALL(add_key, 0),
    CALL(request_key, 0),
    PRETENDED(kexec_load, 0, 0, 0, 0xffff),
    PRETENDED(init_module, 0),
    PRETENDED(finit_module, -1),
    PRETENDED(delete_module, 0),
    CALL(open_by_handle_at, -1, 0, 0),
    CALL(acct, NO_PATH),
    CALL(swapon, NO_PATH),
    CALL(swapoff, NO_PATH),
    PRETENDED(reboot, 0),
    CALL(settimeofday, 0, 0),
    CALL(clock_settime, 1, (long)&(const long[2]){1, 1}),
    {"call-adjtimex", read_clock, (const void *)SYS_adjtimex},
    {"call-clock_adjtime", read_clock, (const void *)SYS_clock_adjtime},
    CALL(quotactl, 0x80000100, 0, 0, 0),
    PRETENDED(lookup_dcookie, 0),
    CALL(syslog, 10, 0, 0),
    PRETENDED(vhangup, 0),
    CALL(fanotify_init, 0, 0),
    CALL(setns, -1, 0),
    CALL(process_madvise, -1),
    CALL(move_pages, 0),
    PRETENDED(mbind, 0),
    PRETENDED(set_mempolicy, 0),
    PRETENDED(migrate_pages, 0),
    {"call-io_setup", set_up_aio},
    CALL(io_destroy, 0),
    CALL(io_submit, 0),
    CALL(io_getevents, 0),
    CALL(io_cancel, 0),
    CALL(io_pgetevents, 0),
    CALL(kcmp, 0, 0, 99),
    CALL(fanotify_mark, -1, 0, 0, 0, 0),
    PRETENDED(memfd_secret, 0),
    PRETENDED(cachestat, -1),
    PRETENDED(quotactl_fd, -1),
    PRETENDED(set_mempolicy_home_node, 0),
    PRETENDED(statmount, 0),
    PRETENDED(listmount, 0),
    PRETENDED(open_tree_attr, -1),
    {"huge-pages-map", make_call, &(const struct call){SYS_mmap, {0, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1}}},
    {"huge-pages-file", make_call, &(const struct call){SYS_memfd_create, {(long)"huge", MFD_HUGETLB}}},
    {"huge-pages-segment", make_call, &(const struct call){SYS_shmget, {0 /* private */, 2 << 20, SHM_HUGETLB | 0600}}},
    {"socket-filter", attach_filter, (const void *)SO_ATTACH_FILTER},
    {"socket-group-filter", attach_filter, (const void *)SO_ATTACH_REUSEPORT_CBPF},
    {"terminal-type-for-others", use_terminal, (const void *)TIOCSTI, DONE(SYS_ioctl)},
    {"terminal-discipline", use_terminal, (const void *)TIOCSETD},
    {"personality", read_implies_execute},
    {"filter-drop", drop_filter},
#if defined(__x86_64__)
    PRETENDED(kexec_file_load, -1),
    PRETENDED(iopl, 3),
    PRETENDED(ioperm, 0x80, 1, 1),
    PRETENDED(uselib, 0),
    CALL(ustat, 0, 0),
    CALL(sysfs, 3),
    CALL(modify_ldt, 0, 0, 0),
    {"call-32-bit", call_32_bit},
    {"call-x32", make_call, &(const struct call){X32 + SYS_bpf}, LOOKED_AT(X32 + SYS_bpf)},
#endif
};
SUBJECT(call_attacks, attacks);
