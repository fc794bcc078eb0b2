/* Removes the connections of an environment that is gone from the host's connection tracking. A TCP connection that
 * nobody closed would otherwise keep its place in the table for five days. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netfilter.h"
#include "network.h"
#include "report.h"

#define MOST_TUPLE 256

struct tuple {
  uint16_t length;
  char bytes[MOST_TUPLE]; /* the attribute as the kernel wrote it */
};

struct request {
  struct nlmsghdr header;
  struct nfgenmsg family;
  char tuple[MOST_TUPLE];
};

static struct request request(unsigned call, unsigned short flags) {
  return (struct request){
      .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct nfgenmsg)),
                 .nlmsg_type = (unsigned short)(NFNL_SUBSYS_CTNETLINK << 8 | call),
                 .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags)},
      .family = {.nfgen_family = AF_INET},
  };
}

static const struct nlattr *tuple_from(const struct nlmsghdr *message, struct in_addr sender) {
  struct in_addr source;
  const struct nlattr *tuple = find_in_message(message, CTA_TUPLE_ORIG);
  if (!read_attribute(find_nested(find_nested(tuple, CTA_TUPLE_IP), CTA_IP_V4_SRC), &source, sizeof source))
    return NULL;
  return source.s_addr == sender.s_addr && tuple->nla_len <= MOST_TUPLE ? tuple : NULL;
}

struct list {
  struct tuple *tuples;
  size_t count, room;
};

static void add_tuple(struct list *list, const struct nlattr *tuple) {
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 256;
    list->tuples = require_memory(realloc(list->tuples, list->room * sizeof *list->tuples));
  }
  struct tuple *added = &list->tuples[list->count++];
  added->length = tuple->nla_len;
  memcpy(added->bytes, tuple, tuple->nla_len);
}

/* Reads one message of the kernel's list. True if it was the last one. */
static bool read_part(int fd, struct in_addr sender, struct list *list) {
  static char part[65536];
  ssize_t received = recv(fd, part, sizeof part, 0);
  if (received < 0) die("recv tracked connections");
  size_t length = (size_t)received;
  for (struct nlmsghdr *at = (void *)part; NLMSG_OK(at, length); at = NLMSG_NEXT(at, length)) {
    if (at->nlmsg_type == NLMSG_DONE || at->nlmsg_type == NLMSG_ERROR) return true;
    const struct nlattr *tuple = tuple_from(at, sender);
    if (tuple) add_tuple(list, tuple);
  }
  return false;
}

static void forget(int fd, const struct tuple *tuple) {
  struct request r = request(IPCTNL_MSG_CT_DELETE, 0);
  memcpy(r.tuple, tuple->bytes, tuple->length);
  r.header.nlmsg_len += NLA_ALIGN(tuple->length);
  /* The answer is not read: a connection that has expired since is gone as well. */
  if (send(fd, &r, r.header.nlmsg_len, 0) < 0) die("send IPCTNL_MSG_CT_DELETE");
}

void forget_connections(const char *address) {
  struct in_addr sender;
  if (inet_pton(AF_INET, address, &sender) != 1) die_because("'%s' is not an IPv4 address", address);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
  if (fd < 0 && errno == EPROTONOSUPPORT) return; /* then the kernel tracks nothing */
  if (fd < 0) die("socket NETLINK_NETFILTER");
  struct request all = request(IPCTNL_MSG_CT_GET, NLM_F_DUMP);
  if (send(fd, &all, all.header.nlmsg_len, 0) < 0) die("send IPCTNL_MSG_CT_GET");
  struct list list = {0};
  while (!read_part(fd, sender, &list)) continue;
  for (size_t i = 0; i < list.count; i++) forget(fd, &list.tuples[i]);
  free(list.tuples);
  close(fd);
}
