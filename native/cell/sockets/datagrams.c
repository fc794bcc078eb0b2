/* UDP datagrams that nobody has read. A copy gets them again, each from its sender's address: as packets that we make,
 * over its own loopback interface. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "report.h"
#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define MOST_PAYLOAD 65507
#define MOST_DATAGRAMS 4096 /* of one socket that are kept */
#define HOPS 64

/* Both in the family that the packet has; addresses in network order. */
struct ends {
  int family;
  uint8_t from[16], to[16];
  uint16_t from_port, to_port;
};

static size_t size_of(int family) { return family == AF_INET ? 4 : 16; }

/* In a socket of IPv6, an address of IPv4 looks like one of IPv6. */
static int read_address(const struct sockaddr_storage *address, uint8_t bytes[16], uint16_t *port) {
  const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
  if (address->ss_family == AF_INET) {
    memcpy(bytes, &v4->sin_addr, 4);
    *port = ntohs(v4->sin_port);
    return AF_INET;
  }
  *port = ntohs(v6->sin6_port);
  bool is_v4 = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
  memcpy(bytes, v6->sin6_addr.s6_addr + (is_v4 ? 12 : 0), is_v4 ? 4 : 16);
  return is_v4 ? AF_INET : AF_INET6;
}

static bool is_nowhere(const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (bytes[i]) return false;
  return true;
}

/* The kernel tells where a datagram went only if it was asked to before. */
static void choose_destination(struct ends *ends, const struct sockaddr_storage *own) {
  int family = read_address(own, ends->to, &ends->to_port);
  size_t size = size_of(ends->family);
  if (family == ends->family && !is_nowhere(ends->to, size)) return;
  memset(ends->to, 0, sizeof ends->to);
  ends->to[size - 1] = 1;
  if (ends->family == AF_INET) ends->to[0] = 127;
}

static void note_datagram(FILE *to, const struct socket *socket, const struct ends *ends, const void *bytes,
                          size_t length) {
  begin_line(to, "datagram", socket);
  fprintf(to, "%d %u %u ", ends->family, ends->from_port, ends->to_port);
  print_hex(to, ends->from, size_of(ends->family));
  putc(' ', to);
  print_hex(to, ends->to, size_of(ends->family));
  putc(' ', to);
  print_hex(to, bytes, length);
  putc('\n', to);
}

static bool has_input(int fd) {
  struct pollfd input = {.fd = fd, .events = POLLIN};
  return poll(&input, 1, 0) == 1 && input.revents & POLLIN;
}

/* Looks at one after the other, as SO_PEEK_OFF lets us. */
static void note_all(struct noting *noting, const struct socket *socket, const struct sockaddr_storage *own) {
  static uint8_t bytes[MOST_PAYLOAD];
  for (int i = 0; i < MOST_DATAGRAMS; i++) {
    struct sockaddr_storage sender = {0};
    socklen_t size = sizeof sender;
    ssize_t length =
        recvfrom(socket->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT, (struct sockaddr *)&sender, &size);
    if (length < 0 || (sender.ss_family != AF_INET && sender.ss_family != AF_INET6)) return;
    struct ends ends = {0};
    ends.family = read_address(&sender, ends.from, &ends.from_port);
    choose_destination(&ends, own);
    note_datagram(noting->to, socket, &ends, bytes, (size_t)length);
  }
  note_loss(noting, socket, "datagrams");
}

void note_datagrams(struct noting *noting, const struct socket *socket) {
  struct sockaddr_storage own = {0};
  socklen_t size = sizeof own, length = sizeof(int);
  int before = -1, start = 0;
  if (socket->protocol != IPPROTO_UDP || !has_input(socket->fd)) return;
  if (getsockname(socket->fd, (struct sockaddr *)&own, &size)) return;
  if (getsockopt(socket->fd, SOL_SOCKET, SO_PEEK_OFF, &before, &length)) return;
  if (setsockopt(socket->fd, SOL_SOCKET, SO_PEEK_OFF, &start, sizeof start)) return;
  note_all(noting, socket, &own);
  setsockopt(socket->fd, SOL_SOCKET, SO_PEEK_OFF, &before, sizeof before);
}

static const char *next_word(const char *text) {
  const char *space = text ? strchr(text, ' ') : NULL;
  return space ? space + 1 : NULL;
}

/* The length of the payload, or -1. */
static ssize_t parse_datagram(const char *value, struct ends *ends, uint8_t payload[MOST_PAYLOAD]) {
  unsigned from_port, to_port;
  int at = 0;
  if (sscanf(value, "%d %u %u %n", &ends->family, &from_port, &to_port, &at) != 3 || !at) return -1;
  if ((ends->family != AF_INET && ends->family != AF_INET6) || from_port > UINT16_MAX || to_port > UINT16_MAX)
    return -1;
  ends->from_port = (uint16_t)from_port;
  ends->to_port = (uint16_t)to_port;
  ssize_t size = (ssize_t)size_of(ends->family);
  const char *from = value + at, *to = next_word(from), *bytes = next_word(to);
  if (!bytes || parse_hex(from, ends->from, 16) != size || parse_hex(to, ends->to, 16) != size) return -1;
  return *bytes ? parse_hex(bytes, payload, MOST_PAYLOAD) : 0;
}

static uint32_t add_words(uint32_t sum, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  for (size_t i = 0; i < length; i++) sum += (uint32_t)at[i] << (i % 2 ? 0 : 8);
  return sum;
}

/* With IPv6, a datagram must have one. */
static uint16_t checksum_of(const struct ends *ends, const struct udphdr *datagram, size_t length) {
  uint32_t sum = IPPROTO_UDP + (uint32_t)length;
  sum = add_words(sum, ends->from, 16);
  sum = add_words(sum, ends->to, 16);
  sum = add_words(sum, datagram, length);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  uint16_t result = (uint16_t)~sum;
  return htons(result ? result : 0xffff);
}

union packet {
  struct iphdr v4;
  struct ip6_hdr v6;
  uint8_t bytes[sizeof(struct ip6_hdr) + sizeof(struct udphdr) + MOST_PAYLOAD];
};

/* Puts the head of IP before a datagram of LENGTH bytes. Returns the size of the head. */
static size_t begin_packet(union packet *packet, const struct ends *ends, size_t length) {
  if (ends->family == AF_INET) {
    packet->v4 = (struct iphdr){.version = 4, .ihl = 5, .ttl = HOPS, .protocol = IPPROTO_UDP};
    packet->v4.tot_len = htons((uint16_t)(sizeof packet->v4 + length));
    memcpy(&packet->v4.saddr, ends->from, 4);
    memcpy(&packet->v4.daddr, ends->to, 4);
    return sizeof packet->v4;
  }
  packet->v6 = (struct ip6_hdr){0};
  packet->v6.ip6_vfc = 6 << 4;
  packet->v6.ip6_hlim = HOPS;
  packet->v6.ip6_nxt = IPPROTO_UDP;
  packet->v6.ip6_plen = htons((uint16_t)length);
  memcpy(&packet->v6.ip6_src, ends->from, 16);
  memcpy(&packet->v6.ip6_dst, ends->to, 16);
  return sizeof packet->v6;
}

/* Nothing may leave the copy, whoever the sender was. */
static int send_inside(const struct ends *ends, const void *packet, size_t size) {
  autoclose int fd = socket(ends->family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo")) return errno;
  struct sockaddr_storage to = {.ss_family = (sa_family_t)ends->family};
  if (ends->family == AF_INET)
    memcpy(&((struct sockaddr_in *)&to)->sin_addr, ends->to, 4);
  else
    memcpy(&((struct sockaddr_in6 *)&to)->sin6_addr, ends->to, 16);
  socklen_t length = ends->family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  return sendto(fd, packet, size, 0, (struct sockaddr *)&to, length) < 0 ? errno : 0;
}

/* This process is in the network of the copy. */
int put_datagram(const struct target *target, const char *value) {
  static uint8_t payload[MOST_PAYLOAD];
  static union packet packet;
  struct ends ends = {0};
  (void)target;
  ssize_t length = parse_datagram(value, &ends, payload);
  if (length < 0) return EINVAL;
  size_t whole = sizeof(struct udphdr) + (size_t)length, head = begin_packet(&packet, &ends, whole);
  struct udphdr *datagram = (struct udphdr *)(packet.bytes + head);
  *datagram = (struct udphdr){0};
  datagram->source = htons(ends.from_port);
  datagram->dest = htons(ends.to_port);
  datagram->len = htons((uint16_t)whole);
  memcpy(datagram + 1, payload, (size_t)length);
  if (ends.family == AF_INET6) datagram->check = checksum_of(&ends, datagram, whole);
  return send_inside(&ends, &packet, head + whole);
}
