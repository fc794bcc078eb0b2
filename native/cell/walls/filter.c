/* The filter of system calls that every process inside has. CRIU dumps it with the process and restores it; `cell
 * filter` prints the one of this version. */
#define _GNU_SOURCE
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

#include "io.h"
#include "refused-calls.h"
#include "report.h"
#include "walls.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "no seccomp filter for this architecture"
#endif

/* As of Linux 6.18. Calls that later kernels add have not been reviewed. */
#define LAST_KNOWN_CALL 469

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
/* Without CLONE_NEWTIME: in the flags of clone, its bit is part of the exit signal. */
#define NAMESPACES \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KEEP(bits) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (bits))
#define SKIP_IF_EQUAL(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (n), 0)
#define SKIP_UNLESS_EQUAL(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define SKIP_UNLESS_ANY(bits, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (n))
#define SKIP_UNLESS_OVER(value, n) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (value), 0, (n))
#define ALLOW_IF(value) SKIP_UNLESS_EQUAL(value, 1), ALLOW

#define FILTER_ROOM 512 /* instructions; there are about 230 */

struct filter {
  struct sock_filter *code;
  size_t length, room;
};

static void append(struct filter *filter, const struct sock_filter *part, size_t length) {
  if (filter->length + length > filter->room)
    die_because("the filter of system calls has more than %zu instructions", filter->room);
  memcpy(filter->code + filter->length, part, length * sizeof *part);
  filter->length += length;
}

#define APPEND(filter, part) append(filter, part, sizeof(part) / sizeof *(part))

/* PART decides about this call, and about nothing else. It sees the low word of each argument, like the kernel. */
static void append_for(struct filter *filter, int call, const struct sock_filter *part, size_t length) {
  const struct sock_filter head[] = {SKIP_UNLESS_EQUAL((uint32_t)call, (uint8_t)length)};
  APPEND(filter, head);
  append(filter, part, length);
}

#define APPEND_FOR(filter, call, part) append_for(filter, call, part, sizeof(part) / sizeof *(part))

static void only_native(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(arch),     SKIP_IF_EQUAL(NATIVE_ARCH, 1),        REFUSE(ENOSYS),
      LOAD(nr),       SKIP_UNLESS_OVER(LAST_KNOWN_CALL, 1), /* includes the calls of x32 */
      REFUSE(ENOSYS),
  };
  APPEND(filter, part);
}

static void refuse_by_name(struct filter *filter) {
  for (size_t i = 0; i < refusal_count; i++) {
    const struct sock_filter part[] = {REFUSE((uint32_t)refusals[i].error)};
    APPEND_FOR(filter, refusals[i].call, part);
  }
}

static void refuse_namespaces(struct filter *filter, int call, uint32_t flags) {
  const struct sock_filter part[] = {LOAD(args[0]), SKIP_UNLESS_ANY(flags, 1), REFUSE(EPERM), ALLOW};
  APPEND_FOR(filter, call, part);
}

/* Other families ignore network namespaces (vsock), cannot be dumped by CRIU, or make the kernel load modules that
 * few people use or review. The same goes for other internet protocols. The errors are those of a kernel that was
 * built without them. Of netlink, only interfaces and routes are available: audit, netfilter, uevents and generic
 * netlink belong to the host. */
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

/* No cgroup counts the memory of packet rings, and their code is known for its faults. Compiled socket filters
 * share one budget for the whole machine; once it is used up, no cell can install its own filter. */
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

/* Huge pages are set aside for the host's own programs, and no limit counts them. */
static void refuse_huge_pages(struct filter *filter, int call, unsigned argument, uint32_t flag) {
  const struct sock_filter part[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t)),
      SKIP_UNLESS_ANY(flag, 1),
      REFUSE(EPERM),
      ALLOW,
  };
  APPEND_FOR(filter, call, part);
}

/* Refuses to type for whoever reads the terminal, and to make the kernel load a line discipline. */
static void refuse_terminal_tricks(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(args[1]), SKIP_IF_EQUAL(TIOCSTI, 3), SKIP_IF_EQUAL(TIOCLINUX, 2), SKIP_IF_EQUAL(TIOCSETD, 1), ALLOW,
      REFUSE(EPERM),
  };
  APPEND_FOR(filter, SYS_ioctl, part);
}

#define OTHER_PERSONALITIES (0xffffffff ^ (PER_LINUX32 | UNAME26 | ADDR_NO_RANDOMIZE))

/* Allows asking for the present personality, `linux32`, and what debuggers need. */
static void refuse_personalities(struct filter *filter) {
  const struct sock_filter part[] = {
      LOAD(args[0]), ALLOW_IF(0xffffffff), SKIP_UNLESS_ANY(OTHER_PERSONALITIES, 1), REFUSE(EPERM), ALLOW,
  };
  APPEND_FOR(filter, SYS_personality, part);
}

/* Returns the number of instructions. */
static size_t build_syscall_filter(struct sock_filter *code, size_t room) {
  struct filter filter = {.code = code, .room = room};
  only_native(&filter);
  refuse_huge_pages(&filter, SYS_mmap, 3, MAP_HUGETLB); /* first, as it is called most often */
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
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) die("prctl PR_SET_SECCOMP");
}

void verb_filter(char **words) {
  (void)words;
  struct sock_filter code[FILTER_ROOM];
  size_t length = build_syscall_filter(code, FILTER_ROOM);
  if (!write_all(STDOUT_FILENO, code, length * sizeof *code)) die("write stdout");
}
