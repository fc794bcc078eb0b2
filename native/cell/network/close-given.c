#define _GNU_SOURCE
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "give.h"
#include "report.h"
#include "shared/owned.h"

struct request {
  struct nlmsghdr header;
  struct inet_diag_req_v2 socket;
};

/* It also finds a socket of IPv6 that is connected to an address of IPv4. */
static struct request request(struct in_addr from, const struct given *given) {
  return (struct request){
      .header = {.nlmsg_len = sizeof(struct request),
                 .nlmsg_type = SOCK_DESTROY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
      .socket = {.sdiag_family = AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .id = {.idiag_sport = given->port,
                        .idiag_dport = given->to_port,
                        .idiag_src = {from.s_addr},
                        .idiag_dst = {given->to.s_addr},
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
  };
}

static int close_one(int fd, struct in_addr from, const struct given *given) {
  struct request wanted = request(from, given);
  struct {
    struct nlmsghdr header;
    struct nlmsgerr error;
    char rest[1024];
  } answer;
  if (send(fd, &wanted, sizeof wanted, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0) return errno;
  int code = -answer.error.error;
  return code == ENOENT ? 0 : code; /* its program has closed it */
}

int close_given(struct in_addr from, const struct givens *givens) {
  autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return errno;
  for (size_t i = 0; i < givens->count; i++) {
    int code = close_one(fd, from, &givens->list[i]);
    if (code) return code;
  }
  return 0;
}
