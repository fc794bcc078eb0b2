/* Which system calls are refused inside. CRIU keeps the filter of a process with it; `cell filter` prints
 * the one of this version. */
#define _GNU_SOURCE
#include "cell.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "no seccomp filter for this architecture"
#endif

/* Newer than the headers of some machines; the same number everywhere. */
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif
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

/* Of Linux 6.18. What a later kernel adds has not been looked at. */
#define LAST_KNOWN_CALL 469

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
/* clone has the signal at the end where unshare has the namespace of time; clone3 is refused. */
#define NAMESPACES \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

struct refusal {
  int call;
  int error;
};

/* ENOSYS where a program then takes another way, EPERM where it should give up. Much of this needs
 * capabilities that nobody inside has; refused here, it is no way into a faulty kernel either. */
static const struct refusal refusals[] = {
    /* CRIU cannot dump these; of clone3 a filter cannot see the flags */
    {SYS_io_uring_setup, ENOSYS}, {SYS_io_uring_enter, ENOSYS}, {SYS_io_uring_register, ENOSYS},
    {SYS_userfaultfd, ENOSYS},    {SYS_memfd_secret, ENOSYS},   {SYS_clone3, ENOSYS},
    /* fs.aio-nr is one number for the whole machine, which no limit divides */
    {SYS_io_setup, ENOSYS},       {SYS_io_destroy, ENOSYS},     {SYS_io_submit, ENOSYS},
    {SYS_io_getevents, ENOSYS},   {SYS_io_cancel, ENOSYS},      {SYS_io_pgetevents, ENOSYS},
    /* tells what the host has read of files that all share */
    {SYS_cachestat, ENOSYS},
    /* the kernel itself */
    {SYS_bpf, EPERM},             {SYS_perf_event_open, EPERM}, {SYS_kexec_load, EPERM},
    {SYS_init_module, EPERM},     {SYS_finit_module, EPERM},    {SYS_delete_module, EPERM},
    {SYS_reboot, EPERM},          {SYS_syslog, EPERM},          {SYS_lookup_dcookie, EPERM},
    {SYS_acct, EPERM},            {SYS_swapon, EPERM},          {SYS_swapoff, EPERM},
    {SYS_settimeofday, EPERM},    {SYS_clock_settime, EPERM},   {SYS_adjtimex, EPERM},
    {SYS_clock_adjtime, EPERM},   {SYS_vhangup, EPERM},         {SYS_kcmp, EPERM},
    /* keys belong to no namespace that a cell could have for itself */
    {SYS_keyctl, EPERM},          {SYS_add_key, EPERM},         {SYS_request_key, EPERM},
    /* files and mounts */
    {SYS_open_by_handle_at, EPERM}, {SYS_quotactl, EPERM},      {SYS_quotactl_fd, EPERM},
    {SYS_fanotify_init, EPERM},   {SYS_fanotify_mark, EPERM},   {SYS_mount, EPERM},
    {SYS_umount2, EPERM},         {SYS_pivot_root, EPERM},      {SYS_fsopen, EPERM},
    {SYS_fsconfig, EPERM},        {SYS_fsmount, EPERM},         {SYS_fspick, EPERM},
    {SYS_open_tree, EPERM},       {SYS_move_mount, EPERM},      {SYS_mount_setattr, EPERM},
    {SYS_open_tree_attr, EPERM}, {SYS_statmount, ENOSYS},     {SYS_listmount, ENOSYS},
    {SYS_setns, EPERM},
    /* where memory lies */
    {SYS_process_madvise, EPERM}, {SYS_move_pages, EPERM},      {SYS_migrate_pages, EPERM},
    {SYS_mbind, EPERM},           {SYS_set_mempolicy, EPERM},   {SYS_set_mempolicy_home_node, EPERM},
#ifdef SYS_kexec_file_load
    {SYS_kexec_file_load, EPERM},
#endif
#if defined(__x86_64__)
    {SYS_iopl, EPERM},            {SYS_ioperm, EPERM},          {SYS_uselib, ENOSYS},
    {SYS_ustat, ENOSYS},          {SYS_sysfs, ENOSYS},          {SYS_modify_ldt, ENOSYS},
#endif
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KEEP(bits) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (bits))
#define SKIP_IF_EQUAL(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (n), 0)
#define SKIP_UNLESS_EQUAL(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define SKIP_UNLESS_ANY(bits, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (n))
#define SKIP_UNLESS_OVER(value, n) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (value), 0, (n))
#define ALLOW_IF(value) SKIP_UNLESS_EQUAL(value, 1), ALLOW

struct filter {
  struct sock_filter *code;
  size_t length, room;
};

static void append(struct filter *filter, const struct sock_filter *part, size_t length) {
  if (filter->length + length > filter->room) die_usage("no room for the filter of system calls", NULL);
  memcpy(filter->code + filter->length, part, length * sizeof *part);
  filter->length += length;
}

#define APPEND(filter, part) append(filter, part, sizeof(part) / sizeof *(part))

/* PART is all there is to this call. It decides by arguments, of which the kernel, too, takes the low word. */
static void append_for(struct filter *filter, int call, const struct sock_filter *part, size_t length) {
  const struct sock_filter head[] = {SKIP_UNLESS_EQUAL((uint32_t)call, (uint8_t)length)};
  APPEND(filter, head);
  append(filter, part, length);
}

#define APPEND_FOR(filter, call, part) append_for(filter, call, part, sizeof(part) / sizeof *(part))

static void only_native(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(arch),
      SKIP_IF_EQUAL(NATIVE_ARCH, 1),
      REFUSE(ENOSYS),
      LOAD(nr),
      SKIP_UNLESS_OVER(LAST_KNOWN_CALL, 1), /* among them those of x32 */
      REFUSE(ENOSYS),
  };
  APPEND(filter, part);
}

static void refuse_by_name(struct filter *filter) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const struct sock_filter part[] = {REFUSE((uint32_t)refusals[i].error)};
    APPEND_FOR(filter, refusals[i].call, part);
  }
}

static void refuse_namespaces(struct filter *filter, int call, uint32_t flags) {
  const struct sock_filter part[] = {LOAD(args[0]), SKIP_UNLESS_ANY(flags, 1), REFUSE(EPERM), ALLOW};
  APPEND_FOR(filter, call, part);
}

/* Other families know no network namespace (vsock), cannot be dumped by CRIU, or have the kernel load what
 * is seldom used and seldom looked at; so have other protocols of the internet. With these errors libraries
 * take it that the kernel was built without. Of netlink there is what shows interfaces and routes: audit,
 * netfilter, uevents and the generic kind are the host's. */
static void refuse_sockets(struct filter *filter, int call) {
  const struct sock_filter part[] = {
      LOAD(args[0]),
      ALLOW_IF(AF_UNIX),
      ALLOW_IF(AF_PACKET),
      SKIP_UNLESS_EQUAL(AF_NETLINK, 4),
      LOAD(args[2]),
      ALLOW_IF(NETLINK_ROUTE),
      REFUSE(EPROTONOSUPPORT),
      SKIP_IF_EQUAL(AF_INET, 2),
      SKIP_IF_EQUAL(AF_INET6, 1),
      REFUSE(EAFNOSUPPORT),
      LOAD(args[1]),
      KEEP(0xf), /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
      ALLOW_IF(SOCK_RAW),
      SKIP_IF_EQUAL(SOCK_STREAM, 2),
      SKIP_IF_EQUAL(SOCK_DGRAM, 1),
      REFUSE(ESOCKTNOSUPPORT),
      LOAD(args[2]),
      ALLOW_IF(0),
      ALLOW_IF(IPPROTO_TCP),
      ALLOW_IF(IPPROTO_UDP),
      ALLOW_IF(IPPROTO_ICMP),
      ALLOW_IF(IPPROTO_ICMPV6),
      REFUSE(EPROTONOSUPPORT),
  };
  APPEND_FOR(filter, call, part);
}

/* The memory of these rings is counted by no cgroup, and their code is known for its faults. Compiled socket
 * filters take from one amount for the whole machine, without which no cell gets its own filter. */
static void refuse_socket_options(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(args[1]),
      SKIP_UNLESS_EQUAL(SOL_SOCKET, 7),
      LOAD(args[2]),
      SKIP_IF_EQUAL(SO_ATTACH_FILTER, 4),
      SKIP_IF_EQUAL(SO_ATTACH_BPF, 3),
      SKIP_IF_EQUAL(SO_ATTACH_REUSEPORT_CBPF, 2),
      SKIP_IF_EQUAL(SO_ATTACH_REUSEPORT_EBPF, 1),
      ALLOW,
      REFUSE(EPERM),
      SKIP_IF_EQUAL(SOL_PACKET, 1),
      ALLOW,
      LOAD(args[2]),
      SKIP_IF_EQUAL(PACKET_RX_RING, 3),
      SKIP_IF_EQUAL(PACKET_TX_RING, 2),
      SKIP_IF_EQUAL(PACKET_FANOUT, 1),
      ALLOW,
      REFUSE(ENOPROTOOPT),
  };
  APPEND_FOR(filter, SYS_setsockopt, part);
}

/* Pages that the host has set aside for its own programs, which no limit counts. */
static void refuse_huge_pages(struct filter *filter, int call, unsigned argument, uint32_t flag) {
  const struct sock_filter part[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t)),
      SKIP_UNLESS_ANY(flag, 1),
      REFUSE(EPERM),
      ALLOW,
  };
  APPEND_FOR(filter, call, part);
}

/* To type for whoever has the terminal, and to have the kernel load a line discipline. */
static void refuse_terminal_tricks(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(args[1]),
      SKIP_IF_EQUAL(TIOCSTI, 3),
      SKIP_IF_EQUAL(TIOCLINUX, 2),
      SKIP_IF_EQUAL(TIOCSETD, 1),
      ALLOW,
      REFUSE(EPERM),
  };
  APPEND_FOR(filter, SYS_ioctl, part);
}

/* To be told the present one, `linux32`, and what debuggers want. */
static void refuse_personalities(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(args[0]),
      ALLOW_IF(0xffffffff),
      SKIP_UNLESS_ANY((uint32_t) ~(PER_LINUX32 | UNAME26 | ADDR_NO_RANDOMIZE), 1),
      REFUSE(EPERM),
      ALLOW,
  };
  APPEND_FOR(filter, SYS_personality, part);
}

size_t build_syscall_filter(struct sock_filter *code, size_t room) {
  struct filter filter = {.code = code, .room = room};
  only_native(&filter);
  refuse_huge_pages(&filter, SYS_mmap, 3, MAP_HUGETLB); /* first, for it is called the most */
  refuse_huge_pages(&filter, SYS_memfd_create, 1, MFD_HUGETLB);
  refuse_huge_pages(&filter, SYS_shmget, 2, SHM_HUGETLB);
  refuse_by_name(&filter);
  refuse_namespaces(&filter, SYS_clone, NAMESPACES);
  refuse_namespaces(&filter, SYS_unshare, NAMESPACES | CLONE_NEWTIME);
  refuse_sockets(&filter, SYS_socket);
  refuse_sockets(&filter, SYS_socketpair);
  refuse_socket_options(&filter);
  refuse_terminal_tricks(&filter);
  refuse_personalities(&filter);
  const struct sock_filter last[] = {ALLOW};
  APPEND(&filter, last);
  return filter.length;
}

void install_syscall_filter(void) {
  struct sock_filter code[FILTER_ROOM];
  struct sock_fprog program = {.len = (unsigned short)build_syscall_filter(code, FILTER_ROOM), .filter = code};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) die("prctl", "seccomp filter");
}

int print_syscall_filter(void) {
  struct sock_filter code[FILTER_ROOM];
  ssize_t size = (ssize_t)(build_syscall_filter(code, FILTER_ROOM) * sizeof *code);
  if (write(STDOUT_FILENO, code, (size_t)size) != size) die("write", "filter of system calls");
  return 0;
}
