/* Loaded into CRIU. A dump asks the kernel twice for all tracked connections in the environment's network. There are
 * none, because nothing inside can turn tracking on, but the kernel walks the table of the whole host to find that out,
 * which takes 10 ms each time. This asks for expected connections instead: the answer is just as empty, and that table
 * is small. */
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

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
    if (asks_for_all_connections(request)) request->nlmsg_type = NFNL_SUBSYS_CTNETLINK_EXP << 8 | IPCTNL_MSG_EXP_GET;
  }
  long sent = restores() ? send_as_sender(fd, message, flags) : 0;
  if (sent) return with_errno(sent);
  return with_errno(raw_syscall(SYS_sendmsg, fd, (long)message, flags, 0, 0, 0));
}
