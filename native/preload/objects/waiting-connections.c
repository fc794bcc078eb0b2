/* Unix connections that nobody has accepted. CRIU refuses them if their clients have sent something, have shut down one
 * direction, or are closed. `cell waits` notes all that (see cell/sockets/backlog.c), so CRIU is told that there is
 * nothing of the kind. */
#define _GNU_SOURCE
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "objects.h"

#define BOTH 3

static struct rtattr *find_attribute(struct nlmsghdr *header, unsigned short type) {
  struct unix_diag_msg *socket = NLMSG_DATA(header);
  struct rtattr *at = (struct rtattr *)(socket + 1);
  long left = (long)header->nlmsg_len - NLMSG_LENGTH((long)sizeof *socket);
  for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
    if (at->rta_type == type) return at;
  return NULL;
}

/* CRIU takes an inode of 0 for a closed client. A listening socket is no client. */
static void hide_closed_clients(struct nlmsghdr *header, uint32_t listener) {
  struct rtattr *clients = find_attribute(header, UNIX_DIAG_ICONS);
  if (!clients) return;
  uint32_t *inodes = RTA_DATA(clients);
  for (size_t i = 0; i < RTA_PAYLOAD(clients) / sizeof *inodes; i++)
    if (!inodes[i] && note_hidden()) inodes[i] = listener;
}

static void hide_sent(struct nlmsghdr *header) {
  struct rtattr *other = find_attribute(header, UNIX_DIAG_PEER);
  struct rtattr *lengths = find_attribute(header, UNIX_DIAG_RQLEN);
  struct rtattr *shut = find_attribute(header, UNIX_DIAG_SHUTDOWN);
  if (!other || RTA_PAYLOAD(other) < sizeof(uint32_t) || *(uint32_t *)RTA_DATA(other)) return;
  if (!lengths || RTA_PAYLOAD(lengths) < sizeof(struct unix_diag_rqlen) || !shut || !RTA_PAYLOAD(shut)) return;
  struct unix_diag_rqlen *length = RTA_DATA(lengths);
  uint8_t *directions = RTA_DATA(shut);
  /* With both directions shut down, the other end is closed, and CRIU has to know. */
  if ((!length->udiag_wqueue && !*directions) || *directions == BOTH || !note_hidden()) return;
  length->udiag_wqueue = 0;
  *directions = 0;
}

void show_connections_as_empty(void *bytes, size_t length, const struct msghdr *message) {
  const struct sockaddr *from = message->msg_name;
  if (!from || message->msg_namelen < sizeof from->sa_family || from->sa_family != AF_NETLINK) return;
  unsigned left = (unsigned)length;
  for (struct nlmsghdr *header = bytes; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
    struct unix_diag_msg *socket = NLMSG_DATA(header);
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || header->nlmsg_len < NLMSG_LENGTH(sizeof *socket) ||
        socket->udiag_family != AF_UNIX || socket->udiag_type == SOCK_DGRAM)
      continue;
    if (socket->udiag_state == TCP_LISTEN) hide_closed_clients(header, socket->udiag_ino);
    if (socket->udiag_state == TCP_ESTABLISHED) hide_sent(header);
  }
}
