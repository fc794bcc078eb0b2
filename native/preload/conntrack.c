/* Loaded into CRIU beside it. A dump asks the kernel, twice, for all tracked connections of the
 * environment's network. There are none, as nothing inside can have packets tracked; but the kernel
 * walks the table of the whole host to find that, which takes 10 ms each time. The question is turned
 * into that for expected connections, whose table is small, and whose answer is as empty.
 *
 * No C library is linked: this runs with whichever CRIU has. */
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>

extern int *__errno_location(void);

static long raw_sendmsg(long fd, long message, long flags) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_sendmsg), "D"(fd), "S"(message), "d"(flags)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = SYS_sendmsg;
  register long x0 __asm__("x0") = fd;
  register long x1 __asm__("x1") = message;
  register long x2 __asm__("x2") = flags;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
#else
#error "no system calls for this architecture"
#endif
}

static int asks_for_all_connections(const struct nlmsghdr *request) {
  return request->nlmsg_len == sizeof *request + sizeof(struct nfgenmsg) &&
         request->nlmsg_type == (NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET) &&
         (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  const struct sockaddr *to = message->msg_name;
  int is_netlink = to && message->msg_namelen >= sizeof to->sa_family && to->sa_family == AF_NETLINK;
  if (is_netlink && message->msg_iovlen == 1 && message->msg_iov->iov_len >= sizeof(struct nlmsghdr)) {
    struct nlmsghdr *request = message->msg_iov->iov_base;
    if (asks_for_all_connections(request))
      request->nlmsg_type = NFNL_SUBSYS_CTNETLINK_EXP << 8 | IPCTNL_MSG_EXP_GET;
  }
  long sent = raw_sendmsg(fd, (long)message, flags);
  if (sent >= 0) return sent;
  *__errno_location() = (int)-sent;
  return -1;
}
