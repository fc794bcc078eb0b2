/* Keeps the TCP of a network silent until all ends of its connections are restored. CRIU makes the two ends of a
 * connection in two processes, one after the other. Whatever the first one sends, such as the acknowledgement of an end
 * that CRIU fakes, finds nobody at the other end, and the kernel resets the connection.
 *
 * One nftables rule in the network of the cell drops what TCP sends, except for CRIU's own packets, which have a mark.
 * For the sender a packet that is dropped there was not sent: it stays in its queue as it was. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "netfilter.h"
#include "network.h"
#include "report.h"
#include "shared/owned.h"

#define TABLE "forkpoint"
#define CHAIN "lock"
#define CRIU_MARK 0xC114 /* SOCCR_MARK of CRIU */

static void mark_border(struct batch *batch, unsigned type) {
  finish(batch, begin(batch, type, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
}

static struct nlmsghdr *order(struct batch *batch, unsigned what, unsigned flags) {
  return begin(batch, NFNL_SUBSYS_NFTABLES << 8 | what, NLM_F_ACK | flags, NFPROTO_INET, 0);
}

static void add_text(struct batch *batch, unsigned type, const char *text) { add(batch, type, text, strlen(text) + 1); }

struct expression {
  struct nlattr *whole, *data;
};

static struct expression begin_expression(struct batch *batch, const char *name) {
  struct expression expression = {.whole = nest(batch, NFTA_LIST_ELEM)};
  add_text(batch, NFTA_EXPR_NAME, name);
  expression.data = nest(batch, NFTA_EXPR_DATA);
  return expression;
}

static void end_expression(struct batch *batch, struct expression expression) {
  end_nest(batch, expression.data);
  end_nest(batch, expression.whole);
}

/* Continues with the next expression only if this property of the packet compares as wanted. */
static void require(struct batch *batch, unsigned property, unsigned comparison, const void *value, size_t length) {
  struct expression load = begin_expression(batch, "meta");
  add_number(batch, NFTA_META_DREG, NFT_REG_1);
  add_number(batch, NFTA_META_KEY, property);
  end_expression(batch, load);
  struct expression compare = begin_expression(batch, "cmp");
  add_number(batch, NFTA_CMP_SREG, NFT_REG_1);
  add_number(batch, NFTA_CMP_OP, comparison);
  struct nlattr *data = nest(batch, NFTA_CMP_DATA);
  add(batch, NFTA_DATA_VALUE, value, length);
  end_nest(batch, data);
  end_expression(batch, compare);
}

static void drop(struct batch *batch) {
  struct expression verdict = begin_expression(batch, "immediate");
  add_number(batch, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
  struct nlattr *data = nest(batch, NFTA_IMMEDIATE_DATA), *code = nest(batch, NFTA_DATA_VERDICT);
  add_number(batch, NFTA_VERDICT_CODE, NF_DROP);
  end_nest(batch, code);
  end_nest(batch, data);
  end_expression(batch, verdict);
}

static void order_table(struct batch *batch, unsigned what, unsigned flags) {
  struct nlmsghdr *message = order(batch, what, flags);
  add_text(batch, NFTA_TABLE_NAME, TABLE);
  finish(batch, message);
}

static void order_chain(struct batch *batch) {
  struct nlmsghdr *message = order(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL);
  add_text(batch, NFTA_CHAIN_TABLE, TABLE);
  add_text(batch, NFTA_CHAIN_NAME, CHAIN);
  struct nlattr *hook = nest(batch, NFTA_CHAIN_HOOK);
  add_number(batch, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
  add_number(batch, NFTA_HOOK_PRIORITY, 0);
  end_nest(batch, hook);
  add_text(batch, NFTA_CHAIN_TYPE, "filter");
  finish(batch, message);
}

static void order_rule(struct batch *batch) {
  uint8_t tcp = IPPROTO_TCP;
  uint32_t criu = CRIU_MARK;
  struct nlmsghdr *message = order(batch, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
  add_text(batch, NFTA_RULE_TABLE, TABLE);
  add_text(batch, NFTA_RULE_CHAIN, CHAIN);
  struct nlattr *expressions = nest(batch, NFTA_RULE_EXPRESSIONS);
  require(batch, NFT_META_L4PROTO, NFT_CMP_EQ, &tcp, sizeof tcp);
  require(batch, NFT_META_MARK, NFT_CMP_NEQ, &criu, sizeof criu);
  drop(batch);
  end_nest(batch, expressions);
  finish(batch, message);
}

/* The first error among the answers, which are all there when the request has been sent; 0 if there is none. */
static int error_in_answers(int fd) {
  char part[8192];
  int code = 0;
  for (ssize_t received; (received = recv(fd, part, sizeof part, MSG_DONTWAIT)) > 0;) {
    size_t length = (size_t)received;
    for (struct nlmsghdr *at = (void *)part; NLMSG_OK(at, length); at = NLMSG_NEXT(at, length))
      if (at->nlmsg_type == NLMSG_ERROR && !code) code = -((struct nlmsgerr *)NLMSG_DATA(at))->error;
  }
  return code;
}

/* 0, or an errno. */
static int carry_out(const struct batch *batch) {
  autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
  if (fd < 0 || send(fd, batch->bytes, batch->length, 0) < 0) return errno;
  return error_in_answers(fd);
}

bool lock_network(void) {
  struct batch batch = {.length = 0};
  mark_border(&batch, NFNL_MSG_BATCH_BEGIN);
  order_table(&batch, NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL);
  order_chain(&batch);
  order_rule(&batch);
  mark_border(&batch, NFNL_MSG_BATCH_END);
  int code = carry_out(&batch);
  /* A kernel without nftables: most connections survive this, too. */
  if (code) fprintf(stderr, "cannot lock the network of the cell: %s\n", strerror(code));
  return !code;
}

void unlock_network(void) {
  struct batch batch = {.length = 0};
  mark_border(&batch, NFNL_MSG_BATCH_BEGIN);
  order_table(&batch, NFT_MSG_DELTABLE, 0);
  mark_border(&batch, NFNL_MSG_BATCH_END);
  errno = carry_out(&batch);
  if (errno) die("NFT_MSG_DELTABLE '%s'", TABLE);
}
