/* Gives TCP connections to the outside from one cell to another. Outside, nothing changes: the host still sends the
 * packets of a connection from the same address and port, but to and from another cell. So the entry of the host's
 * connection tracking is exchanged for one with another first address. The caller sees to it that no packet passes
 * meanwhile. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "give.h"
#include "netfilter.h"
#include "network.h"
#include "report.h"
#include "shared/owned.h"

/* What the host knows about a connection. */
struct known {
  struct in_addr seen_as; /* whom the other end talks to */
  uint16_t seen_port;
  uint32_t timeout, mark; /* in network order, as the numbers of an entry are */
  uint8_t state, scales[2];
};

static void add_tuple(struct batch *batch, unsigned type, struct in_addr from, const struct given *given) {
  uint8_t tcp = IPPROTO_TCP;
  struct nlattr *tuple = nest(batch, type), *addresses = nest(batch, CTA_TUPLE_IP);
  bool is_reply = type == CTA_TUPLE_REPLY;
  add(batch, CTA_IP_V4_SRC, is_reply ? &given->to : &from, sizeof from);
  add(batch, CTA_IP_V4_DST, is_reply ? &from : &given->to, sizeof from);
  end_nest(batch, addresses);
  struct nlattr *ports = nest(batch, CTA_TUPLE_PROTO);
  add(batch, CTA_PROTO_NUM, &tcp, sizeof tcp);
  add(batch, CTA_PROTO_SRC_PORT, is_reply ? &given->to_port : &given->port, sizeof given->port);
  add(batch, CTA_PROTO_DST_PORT, is_reply ? &given->port : &given->to_port, sizeof given->port);
  end_nest(batch, ports);
  end_nest(batch, tuple);
}

static struct nlmsghdr *begin_call(struct batch *batch, unsigned call, unsigned flags) {
  *batch = (struct batch){.length = 0};
  return begin(batch, NFNL_SUBSYS_CTNETLINK << 8 | call, flags, AF_INET, 0);
}

/* Sends a request. The answer is a message, or an errno, which is 0 for success. */
static int exchange(int fd, struct batch *batch, struct nlmsghdr *message, void *answer, size_t size) {
  finish(batch, message);
  if (send(fd, batch->bytes, batch->length, 0) < 0) die("send to NETLINK_NETFILTER");
  ssize_t received = recv(fd, answer, size, 0);
  if (received < 0) die("recv from NETLINK_NETFILTER");
  const struct nlmsghdr *header = answer;
  if (!NLMSG_OK(header, (size_t)received)) die_because("NETLINK_NETFILTER gave a short answer");
  return header->nlmsg_type == NLMSG_ERROR ? -((struct nlmsgerr *)NLMSG_DATA(header))->error : 0;
}

static void read_known(const struct nlmsghdr *message, struct known *known) {
  const struct nlattr *reply = find_in_message(message, CTA_TUPLE_REPLY);
  const struct nlattr *tcp = find_nested(find_in_message(message, CTA_PROTOINFO), CTA_PROTOINFO_TCP);
  *known = (struct known){.state = TCP_CONNTRACK_ESTABLISHED};
  if (!read_attribute(find_nested(find_nested(reply, CTA_TUPLE_IP), CTA_IP_V4_DST), &known->seen_as,
                      sizeof known->seen_as) ||
      !read_attribute(find_nested(find_nested(reply, CTA_TUPLE_PROTO), CTA_PROTO_DST_PORT), &known->seen_port,
                      sizeof known->seen_port) ||
      !read_attribute(find_in_message(message, CTA_TIMEOUT), &known->timeout, sizeof known->timeout))
    die_because("the kernel describes a tracked connection otherwise than expected");
  read_attribute(find_nested(tcp, CTA_PROTOINFO_TCP_STATE), &known->state, sizeof known->state);
  read_attribute(find_nested(tcp, CTA_PROTOINFO_TCP_WSCALE_ORIGINAL), &known->scales[0], sizeof *known->scales);
  read_attribute(find_nested(tcp, CTA_PROTOINFO_TCP_WSCALE_REPLY), &known->scales[1], sizeof *known->scales);
  read_attribute(find_in_message(message, CTA_MARK), &known->mark, sizeof known->mark);
}

static void look_up(int fd, struct in_addr from, const struct given *given, struct known *known) {
  struct batch batch;
  static char answer[8192] __attribute__((aligned(8)));
  struct nlmsghdr *message = begin_call(&batch, IPCTNL_MSG_CT_GET, 0);
  add_tuple(&batch, CTA_TUPLE_ORIG, from, given);
  int code = exchange(fd, &batch, message, answer, sizeof answer);
  if (code) {
    char address[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &given->to, address, sizeof address);
    die_because("the host does not know the connection to %s:%u: %s", address, ntohs(given->to_port), strerror(code));
  }
  read_known((void *)answer, known);
}

static int forget(int fd, struct in_addr from, const struct given *given) {
  struct batch batch;
  char answer[1024] __attribute__((aligned(8)));
  struct nlmsghdr *message = begin_call(&batch, IPCTNL_MSG_CT_DELETE, NLM_F_ACK);
  add_tuple(&batch, CTA_TUPLE_ORIG, from, given);
  return exchange(fd, &batch, message, answer, sizeof answer);
}

/* The tracking has not seen the packets so far, so it must not judge those that follow by them. */
static void add_progress(struct batch *batch, const struct known *known) {
  struct nf_ct_tcp_flags flags = {IP_CT_TCP_FLAG_BE_LIBERAL | IP_CT_TCP_FLAG_WINDOW_SCALE,
                                  IP_CT_TCP_FLAG_BE_LIBERAL | IP_CT_TCP_FLAG_WINDOW_SCALE};
  struct nlattr *protocol = nest(batch, CTA_PROTOINFO), *tcp = nest(batch, CTA_PROTOINFO_TCP);
  add(batch, CTA_PROTOINFO_TCP_STATE, &known->state, sizeof known->state);
  add(batch, CTA_PROTOINFO_TCP_FLAGS_ORIGINAL, &flags, sizeof flags);
  add(batch, CTA_PROTOINFO_TCP_FLAGS_REPLY, &flags, sizeof flags);
  add(batch, CTA_PROTOINFO_TCP_WSCALE_ORIGINAL, &known->scales[0], sizeof *known->scales);
  add(batch, CTA_PROTOINFO_TCP_WSCALE_REPLY, &known->scales[1], sizeof *known->scales);
  end_nest(batch, tcp);
  end_nest(batch, protocol);
}

static void add_translation(struct batch *batch, const struct known *known) {
  struct nlattr *source = nest(batch, CTA_NAT_SRC);
  add(batch, CTA_NAT_V4_MINIP, &known->seen_as, sizeof known->seen_as);
  add(batch, CTA_NAT_V4_MAXIP, &known->seen_as, sizeof known->seen_as);
  struct nlattr *ports = nest(batch, CTA_NAT_PROTO);
  add(batch, CTA_PROTONAT_PORT_MIN, &known->seen_port, sizeof known->seen_port);
  add(batch, CTA_PROTONAT_PORT_MAX, &known->seen_port, sizeof known->seen_port);
  end_nest(batch, ports);
  end_nest(batch, source);
}

static int track(int fd, struct in_addr from, const struct given *given, const struct known *known) {
  struct batch batch;
  char answer[1024] __attribute__((aligned(8)));
  struct nlmsghdr *message = begin_call(&batch, IPCTNL_MSG_CT_NEW, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
  add_tuple(&batch, CTA_TUPLE_ORIG, from, given);
  add_tuple(&batch, CTA_TUPLE_REPLY, from, given);
  add_number(&batch, CTA_STATUS, IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED);
  add(&batch, CTA_TIMEOUT, &known->timeout, sizeof known->timeout);
  if (known->mark) add(&batch, CTA_MARK, &known->mark, sizeof known->mark);
  add_progress(&batch, known);
  add_translation(&batch, known);
  return exchange(fd, &batch, message, answer, sizeof answer);
}

/* 0, or an errno; then nothing has changed. */
static int move(int fd, struct in_addr from, struct in_addr to, const struct given *given, const struct known *known) {
  int code = forget(fd, from, given);
  if (code) return code;
  code = track(fd, to, given, known);
  if (code) track(fd, from, given, known);
  return code;
}

static int open_tracking(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
  if (fd < 0) die("socket NETLINK_NETFILTER");
  return fd;
}

static struct known *look_all_up(int fd, struct in_addr from, const struct givens *givens) {
  struct known *known = require_memory(calloc(givens->count + 1, sizeof *known));
  for (size_t i = 0; i < givens->count; i++) look_up(fd, from, &givens->list[i], &known[i]);
  return known;
}

static struct in_addr parse_address(const char *text) {
  struct in_addr address;
  if (inet_pton(AF_INET, text, &address) != 1) die_because("'%s' is not an IPv4 address", text);
  return address;
}

/* PORT:ADDRESS:PORT, of the cell and of the other end. */
static struct givens parse_givens(char **words) {
  struct givens givens = {0};
  while (words[givens.count]) givens.count++;
  givens.list = require_memory(calloc(givens.count + 1, sizeof *givens.list));
  for (size_t i = 0; i < givens.count; i++) {
    char address[INET_ADDRSTRLEN];
    uint16_t port, to_port;
    if (sscanf(words[i], "%hu:%15[0-9.]:%hu", &port, address, &to_port) != 3)
      die_because("'%s' is no connection", words[i]);
    givens.list[i] = (struct given){parse_address(address), htons(port), htons(to_port)};
  }
  return givens;
}

void verb_tracked_connections(char **words) {
  struct in_addr from = parse_address(words[0]);
  struct givens givens = parse_givens(words + 1);
  autoclose int fd = open_tracking();
  autofree struct known *known = look_all_up(fd, from, &givens);
  for (size_t i = 0; i < givens.count; i++) {
    char far[INET_ADDRSTRLEN], near[INET_ADDRSTRLEN];
    const struct given *given = &givens.list[i];
    inet_ntop(AF_INET, &given->to, far, sizeof far);
    inet_ntop(AF_INET, &known[i].seen_as, near, sizeof near);
    printf("%s . %u . %s . %u\n", far, ntohs(given->to_port), near, ntohs(known[i].seen_port));
  }
  free(givens.list);
}

/* 0, or an errno; then nothing has changed. */
static int move_all(int fd, struct in_addr from, struct in_addr to, const struct givens *givens,
                    const struct known *known) {
  for (size_t moved = 0; moved < givens->count; moved++) {
    int code = move(fd, from, to, &givens->list[moved], &known[moved]);
    if (!code) continue;
    while (moved--) move(fd, to, from, &givens->list[moved], &known[moved]);
    return code;
  }
  return 0;
}

void verb_give_connections(char **words) {
  pid_t pid = parse_pid(words[0]);
  struct in_addr from = parse_address(words[1]), to = parse_address(words[2]);
  struct givens givens = parse_givens(words + 3);
  autoclose int fd = open_tracking();
  autofree struct known *known = look_all_up(fd, from, &givens);
  errno = move_all(fd, from, to, &givens, known);
  if (errno) die("IPCTNL_MSG_CT_NEW from %s", words[2]);
  enter_network(pid);
  int code = close_given(from, &givens);
  if (code) {
    move_all(fd, to, from, &givens, known);
    errno = code;
    die("SOCK_DESTROY of connections from %s", words[1]);
  }
  free(givens.list);
}
