/* Unread messages of the kernel in netlink sockets. Nobody else can send them. What is the answer to a request for a
 * whole table is asked for again in a copy; the rest is lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define KINDS 4 /* each table has four types of message: new, deleted, get, set */
#define GET 2

void note_unread_of_kernel(struct noting *noting, const struct socket *socket) {
  union {
    struct nlmsghdr header;
    char bytes[sizeof(struct nlmsghdr) + sizeof(struct rtgenmsg)];
  } first = {0};
  struct pollfd in = {.fd = socket->fd, .events = POLLIN};
  if (poll(&in, 1, 0) <= 0) return;
  ssize_t length = recv(socket->fd, &first, sizeof first, MSG_PEEK | MSG_DONTWAIT);
  bool is_table = socket->protocol == NETLINK_ROUTE && length == sizeof first &&
                  first.header.nlmsg_flags & NLM_F_MULTI && first.header.nlmsg_type >= RTM_BASE;
  begin_line(noting->to, is_table ? "table-again" : "unread-lost", socket);
  if (is_table)
    fprintf(noting->to, "%u %u %u\n", first.header.nlmsg_type / KINDS * KINDS + GET, first.header.nlmsg_seq,
            *(uint8_t *)NLMSG_DATA(&first.header));
  else
    fputs("-\n", noting->to);
}

int put_table_again(const struct target *target, const char *value) {
  unsigned type, sequence, family;
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof request.body), .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
  if (sscanf(value, "%u %u %u", &type, &sequence, &family) != 3 || type > RTM_MAX || type % KINDS != GET ||
      family > 255)
    return EINVAL;
  request.header.nlmsg_type = (uint16_t)type;
  request.header.nlmsg_seq = sequence;
  request.body.rtgen_family = (uint8_t)family;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  size_t length = sizeof request;
  return sendto(fd, &request, length, MSG_DONTWAIT, (struct sockaddr *)&kernel, sizeof kernel) < 0 ? errno : 0;
}
