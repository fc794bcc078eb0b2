/* Options of sockets. The table has those that the kernel tells and that CRIU drops. */
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/owned.h"
#include "waits.h"

struct option_name {
  int level, name;
};

/* By number where the C library is older than the kernel. */
enum {
  TIMESTAMP_NEW = 63,
  TIMESTAMPNS_NEW = 64,
  TIMESTAMPING_NEW = 65,
  PREFER_BUSY_POLL = 69,
  TXREHASH = 74,
  RCVMARK = 75,
  PASSPIDFD = 76,
  RCVPRIORITY = 82,
  PASSRIGHTS = 83,
  LOCAL_PORT_RANGE = 51,
  RECVERR_RFC4884 = 26,
  V6_RECVERR_RFC4884 = 31,
  V6_RECVFRAGSIZE = 77,
  V6_MULTICAST_ALL = 29,
  TCP_RTO_MAX_MS_ = 44,
  TCP_RTO_MIN_US_ = 45,
  TCP_DELACK_MAX_US_ = 46,
  RAW_FILTER = 1, /* ICMP_FILTER and ICMPV6_FILTER */
};

static const struct option_name table[] = {
    {SOL_SOCKET, SO_TIMESTAMP},
    {SOL_SOCKET, SO_TIMESTAMPNS},
    {SOL_SOCKET, TIMESTAMP_NEW},
    {SOL_SOCKET, TIMESTAMPNS_NEW},
    {SOL_SOCKET, SO_TIMESTAMPING},
    {SOL_SOCKET, TIMESTAMPING_NEW},
    {SOL_SOCKET, SO_MAX_PACING_RATE},
    {SOL_SOCKET, SO_PEEK_OFF},
    {SOL_SOCKET, SO_RXQ_OVFL},
    {SOL_SOCKET, SO_SELECT_ERR_QUEUE},
    {SOL_SOCKET, SO_ZEROCOPY},
    {SOL_SOCKET, SO_TXTIME},
    {SOL_SOCKET, PREFER_BUSY_POLL},
    {SOL_SOCKET, TXREHASH},
    {SOL_SOCKET, RCVMARK},
    {SOL_SOCKET, RCVPRIORITY},
    {SOL_SOCKET, PASSPIDFD},
    {SOL_SOCKET, PASSRIGHTS},
    {SOL_SOCKET, SO_LOCK_FILTER},
    {IPPROTO_IP, IP_MTU_DISCOVER},
    {IPPROTO_IP, IP_RECVERR},
    {IPPROTO_IP, RECVERR_RFC4884},
    {IPPROTO_IP, IP_RECVTTL},
    {IPPROTO_IP, IP_RECVTOS},
    {IPPROTO_IP, IP_RECVOPTS},
    {IPPROTO_IP, IP_RETOPTS},
    {IPPROTO_IP, IP_PKTINFO},
    {IPPROTO_IP, IP_RECVORIGDSTADDR},
    {IPPROTO_IP, IP_RECVFRAGSIZE},
    {IPPROTO_IP, IP_CHECKSUM},
    {IPPROTO_IP, IP_MINTTL},
    {IPPROTO_IP, IP_NODEFRAG},
    {IPPROTO_IP, IP_TRANSPARENT},
    {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT},
    {IPPROTO_IP, LOCAL_PORT_RANGE},
    {IPPROTO_IP, IP_MULTICAST_TTL},
    {IPPROTO_IP, IP_MULTICAST_LOOP},
    {IPPROTO_IP, IP_MULTICAST_ALL},
    {IPPROTO_IP, IP_MULTICAST_IF},
    {IPPROTO_IP, IP_UNICAST_IF},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS},
    {IPPROTO_IPV6, IPV6_MULTICAST_HOPS},
    {IPPROTO_IPV6, IPV6_MULTICAST_LOOP},
    {IPPROTO_IPV6, V6_MULTICAST_ALL},
    {IPPROTO_IPV6, IPV6_MULTICAST_IF},
    {IPPROTO_IPV6, IPV6_UNICAST_IF},
    {IPPROTO_IPV6, IPV6_MTU_DISCOVER},
    {IPPROTO_IPV6, IPV6_DONTFRAG},
    {IPPROTO_IPV6, IPV6_RECVERR},
    {IPPROTO_IPV6, V6_RECVERR_RFC4884},
    {IPPROTO_IPV6, IPV6_RECVPKTINFO},
    {IPPROTO_IPV6, IPV6_RECVHOPLIMIT},
    {IPPROTO_IPV6, IPV6_RECVHOPOPTS},
    {IPPROTO_IPV6, IPV6_RECVRTHDR},
    {IPPROTO_IPV6, IPV6_RECVDSTOPTS},
    {IPPROTO_IPV6, IPV6_RECVTCLASS},
    {IPPROTO_IPV6, IPV6_RECVPATHMTU},
    {IPPROTO_IPV6, IPV6_RECVORIGDSTADDR},
    {IPPROTO_IPV6, V6_RECVFRAGSIZE},
    {IPPROTO_IPV6, IPV6_TCLASS},
    {IPPROTO_IPV6, IPV6_AUTOFLOWLABEL},
    {IPPROTO_IPV6, IPV6_ADDR_PREFERENCES},
    {IPPROTO_IPV6, IPV6_MINHOPCOUNT},
    {IPPROTO_IPV6, IPV6_TRANSPARENT},
    {IPPROTO_IPV6, IPV6_FREEBIND},
    {IPPROTO_TCP, TCP_CONGESTION},
    {IPPROTO_TCP, TCP_USER_TIMEOUT},
    {IPPROTO_TCP, TCP_SYNCNT},
    {IPPROTO_TCP, TCP_LINGER2},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP},
    {IPPROTO_TCP, TCP_NODELAY},
    {IPPROTO_TCP, TCP_KEEPIDLE},
    {IPPROTO_TCP, TCP_KEEPINTVL},
    {IPPROTO_TCP, TCP_KEEPCNT},
    {IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS},
    {IPPROTO_TCP, TCP_FASTOPEN},
    {IPPROTO_TCP, TCP_FASTOPEN_CONNECT},
    {IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT},
    {IPPROTO_TCP, TCP_SAVE_SYN},
    {IPPROTO_TCP, TCP_INQ},
    {IPPROTO_TCP, TCP_TX_DELAY},
    {IPPROTO_TCP, TCP_RTO_MAX_MS_},
    {IPPROTO_TCP, TCP_RTO_MIN_US_},
    {IPPROTO_TCP, TCP_DELACK_MAX_US_},
    {IPPROTO_UDP, UDP_NO_CHECK6_TX},
    {IPPROTO_UDP, UDP_NO_CHECK6_RX},
    {IPPROTO_UDP, UDP_SEGMENT},
    {IPPROTO_UDP, UDP_GRO},
    {IPPROTO_RAW, RAW_FILTER},
    {IPPROTO_ICMPV6, RAW_FILTER},
    {SOL_NETLINK, NETLINK_PKTINFO},
    {SOL_NETLINK, NETLINK_BROADCAST_ERROR},
    {SOL_NETLINK, NETLINK_NO_ENOBUFS},
    {SOL_NETLINK, NETLINK_CAP_ACK},
    {SOL_NETLINK, NETLINK_EXT_ACK},
    {SOL_NETLINK, NETLINK_GET_STRICT_CHK},
    {SOL_PACKET, PACKET_AUXDATA},
    {SOL_PACKET, PACKET_ORIGDEV},
    {SOL_PACKET, PACKET_IGNORE_OUTGOING},
};
#define OPTIONS (sizeof table / sizeof *table)
_Static_assert(OPTIONS <= MOST_OPTIONS, "MOST_OPTIONS must have room for the table");

static bool may_have(int family, int level) {
  if (level == SOL_SOCKET) return true;
  if (family == AF_NETLINK || family == AF_PACKET) return level == (family == AF_NETLINK ? SOL_NETLINK : SOL_PACKET);
  return (family == AF_INET || family == AF_INET6) && level != SOL_NETLINK && level != SOL_PACKET;
}

static void read_option(int fd, const struct option_name *option, struct option_value *value) {
  socklen_t length = sizeof value->bytes;
  *value = (struct option_value){0};
  if (!getsockopt(fd, option->level, option->name, value->bytes, &length)) value->length = length;
}

void read_options(int fd, int family, struct option_value values[MOST_OPTIONS]) {
  for (size_t i = 0; i < OPTIONS; i++)
    if (may_have(family, table[i].level)) read_option(fd, &table[i], &values[i]);
}

static bool is_same(const struct option_value *a, const struct option_value *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

/* Of another family, CRIU sets it while it dumps the queue: see `note_doubtful`. */
static bool is_doubtful(const struct option_name *option, int family) {
  return family == AF_UNIX && option->level == SOL_SOCKET && option->name == SO_PEEK_OFF;
}

static const struct fresh *fresh_of(struct noting *noting, const struct socket *like) {
  for (size_t i = 0; i < noting->fresh_count; i++) {
    const struct fresh *fresh = &noting->fresh[i];
    if (fresh->family == like->family && fresh->type == like->type && fresh->protocol == like->protocol) return fresh;
  }
  autoclose int fd = socket(like->family, like->type | SOCK_CLOEXEC, like->protocol);
  struct fresh *grown = fd < 0 ? NULL : realloc(noting->fresh, (noting->fresh_count + 1) * sizeof *grown);
  if (!grown) return NULL;
  noting->fresh = grown;
  struct fresh *fresh = &grown[noting->fresh_count++];
  *fresh = (struct fresh){like->family, like->type, like->protocol, {{{0}, 0}}};
  read_options(fd, like->family, fresh->values);
  return fresh;
}

void note_options(struct noting *noting, const struct socket *socket) {
  const struct fresh *fresh = fresh_of(noting, socket);
  if (!fresh) return;
  for (size_t i = 0; i < OPTIONS; i++) {
    struct option_value value;
    if (!fresh->values[i].length || is_doubtful(&table[i], socket->family)) continue;
    read_option(socket->fd, &table[i], &value);
    if (!value.length || is_same(&value, &fresh->values[i])) continue;
    begin_line(noting->to, "option", socket);
    fprintf(noting->to, "%d %d ", table[i].level, table[i].name);
    print_hex(noting->to, value.bytes, value.length);
    putc('\n', noting->to);
  }
}

static const struct option_name *find_option_name(int level, int name) {
  for (size_t i = 0; i < OPTIONS; i++)
    if (table[i].level == level && table[i].name == name) return &table[i];
  return NULL;
}

int put_option(const struct target *target, const char *value) {
  int level, name, at = 0;
  struct option_value wanted, is;
  if (sscanf(value, "%d %d %n", &level, &name, &at) != 2 || !at) return EINVAL;
  const struct option_name *option = find_option_name(level, name);
  ssize_t length = parse_hex(value + at, wanted.bytes, sizeof wanted.bytes);
  if (!option || length <= 0) return EINVAL;
  wanted.length = (uint32_t)length;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  read_option(fd, option, &is);
  if (is_same(&is, &wanted)) return 0;
  return setsockopt(fd, level, name, wanted.bytes, wanted.length) ? errno : 0;
}
