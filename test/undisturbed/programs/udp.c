/* UDP, multicast, netlink, raw and packet sockets. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "inet.h"
#include "program.h"

static char bytes[4096];

static void send_to(int from, int to, const char *text) {
  struct sockaddr_storage name = name_of(to);
  MUST(sendto(from, text, strlen(text), 0, (struct sockaddr *)&name, length_of(&name)));
}

/* Datagrams that nobody has read, with their senders. */
static void queued_over(int family) {
  int receiver = bound_to_loopback(family, SOCK_DGRAM), sender = bound_to_loopback(family, SOCK_DGRAM);
  send_to(sender, receiver, "one");
  send_to(sender, receiver, "two");
  struct sockaddr_storage expected = name_of(sender), from;
  hold();
  for (int i = 0; i < 2; i++) {
    socklen_t length = sizeof from;
    memset(bytes, 0, sizeof bytes);
    ssize_t got = recvfrom(receiver, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    same("bytes", 3, got);
    if (got < 0) return;
    same_text("datagram", i ? "two" : "one", bytes);
    EXPECT(memcmp(&expected, &from, length_of(&expected)) == 0);
  }
}
static void queued(void) { queued_over(AF_INET); }
static void queued_v6(void) { queued_over(AF_INET6); }

static void connected(void) {
  int one = bound_to_loopback(AF_INET, SOCK_DGRAM), two = bound_to_loopback(AF_INET, SOCK_DGRAM);
  struct sockaddr_storage first = name_of(one), second = name_of(two);
  MUST(connect(one, (struct sockaddr *)&second, length_of(&second)));
  MUST(connect(two, (struct sockaddr *)&first, length_of(&first)));
  hold();
  expect_carries(one, two);
}

static void options(void) {
  static const struct {
    int level, option, value;
    const char *name;
  } set[] = {{SOL_SOCKET, SO_BROADCAST, 1, "SO_BROADCAST"},
             {IPPROTO_IP, IP_MULTICAST_TTL, 9, "IP_MULTICAST_TTL"},
             {IPPROTO_IP, IP_MULTICAST_LOOP, 0, "IP_MULTICAST_LOOP"},
             {IPPROTO_IP, IP_PKTINFO, 1, "IP_PKTINFO"},
             {IPPROTO_IP, IP_RECVERR, 1, "IP_RECVERR"},
             {IPPROTO_IP, IP_RECVTTL, 1, "IP_RECVTTL"},
             {IPPROTO_IP, IP_MTU_DISCOVER, 2, "IP_MTU_DISCOVER"},
             {IPPROTO_UDP, UDP_SEGMENT, 500, "UDP_SEGMENT"},
             {IPPROTO_UDP, UDP_GRO, 1, "UDP_GRO"},
             {SOL_SOCKET, SO_NO_CHECK, 1, "SO_NO_CHECK"},
             {SOL_SOCKET, SO_RXQ_OVFL, 1, "SO_RXQ_OVFL"},
             {SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS"}};
  const int count = sizeof set / sizeof *set;
  int fd = bound_to_loopback(AF_INET, SOCK_DGRAM), were[16];
  for (int i = 0; i < count; i++) {
    if (setsockopt(fd, set[i].level, set[i].option, &set[i].value, sizeof(int)) < 0)
      cannot(__FILE__, __LINE__, set[i].name);
    were[i] = option_of(fd, set[i].level, set[i].option);
  }
  hold();
  for (int i = 0; i < count; i++) same(set[i].name, were[i], option_of(fd, set[i].level, set[i].option));
}

static void multicast(void) {
  int fd = MUST(socket(AF_INET, SOCK_DGRAM, 0)), sender = MUST(socket(AF_INET, SOCK_DGRAM, 0));
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
  MUST(bind(fd, (struct sockaddr *)&any, sizeof any));
  struct ip_mreqn group = {.imr_multiaddr = {htonl(0xef010203)}, .imr_ifindex = (int)if_nametoindex("lo")};
  MUST(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group));
  MUST(setsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &group, sizeof group));
  socklen_t length = sizeof any;
  MUST(getsockname(fd, (struct sockaddr *)&any, &length));
  any.sin_addr = group.imr_multiaddr;
  hold();
  EXPECT(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group) < 0 && errno == EADDRINUSE);
  EXPECT(sendto(sender, "to all", 6, 0, (struct sockaddr *)&any, sizeof any) == 6);
  expect_text(fd, "to all");
}

static void multicast_v6(void) {
  int fd = MUST(socket(AF_INET6, SOCK_DGRAM, 0));
  struct sockaddr_in6 any = {.sin6_family = AF_INET6};
  MUST(bind(fd, (struct sockaddr *)&any, sizeof any));
  struct ipv6_mreq group = {.ipv6mr_interface = if_nametoindex("lo")};
  inet_pton(AF_INET6, "ff01::1234", &group.ipv6mr_multiaddr);
  MUST(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group, sizeof group));
  hold();
  EXPECT(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group, sizeof group) < 0 && errno == EADDRINUSE);
}

/* A datagram to a closed port came back: the error waits until it is asked for. */
static void pending_error(void) {
  int closed = bound_to_loopback(AF_INET, SOCK_DGRAM), fd = MUST(connect_to(name_of(closed), SOCK_DGRAM));
  close(closed);
  MUST(send(fd, "x", 1, 0));
  rest(0.1);
  hold();
  same("the error that waits", ECONNREFUSED, option_of(fd, SOL_SOCKET, SO_ERROR));
}

static void corked(void) {
  int to = bound_to_loopback(AF_INET, SOCK_DGRAM), fd = MUST(connect_to(name_of(to), SOCK_DGRAM));
  MUST(setsockopt(fd, IPPROTO_UDP, UDP_CORK, &(int){1}, sizeof(int)));
  MUST(send(fd, "half ", 5, 0));
  hold();
  MUST(send(fd, "and half", 8, 0));
  MUST(setsockopt(fd, IPPROTO_UDP, UDP_CORK, &(int){0}, sizeof(int)));
  expect_text(to, "half and half");
}

static void ask_for_links(int fd) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request = {{sizeof request, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 7, 0}, {AF_UNSPEC}};
  MUST(send(fd, &request, sizeof request, 0));
}

static void netlink(void) {
  int fd = MUST(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
  struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK}, was, is;
  MUST(bind(fd, (struct sockaddr *)&name, sizeof name));
  socklen_t length = sizeof was;
  MUST(getsockname(fd, (struct sockaddr *)&was, &length));
  hold();
  MUST(getsockname(fd, (struct sockaddr *)&is, &length));
  same("port", was.nl_pid, is.nl_pid);
  same("groups", was.nl_groups, is.nl_groups);
  EXPECT(recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) < 0 && errno == EAGAIN);
  ask_for_links(fd);
  EXPECT(recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0);
}

static void netlink_answer(void) {
  int fd = MUST(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
  ask_for_links(fd);
  hold();
  ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
  EXPECT(got > 0 && ((struct nlmsghdr *)bytes)->nlmsg_seq == 7);
}

/* An echo of our own, by a raw socket. */
static void raw(void) {
  int fd = MUST(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  struct sockaddr_storage to = loopback(AF_INET, 0);
  struct icmphdr echo = {.type = ICMP_ECHO, .checksum = (uint16_t)~htons(ICMP_ECHO << 8)};
  MUST(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&to, length_of(&to)));
  rest(0.1);
  hold();
  EXPECT(recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0);
}

static void packets(void) {
  int fd = MUST(socket(AF_PACKET, SOCK_RAW, 0));
  struct sockaddr_ll lo = {
      .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_802_3), .sll_ifindex = (int)if_nametoindex("lo")};
  MUST(bind(fd, (struct sockaddr *)&lo, sizeof lo));
  hold();
  struct sockaddr_ll is;
  socklen_t length = sizeof is;
  MUST(getsockname(fd, (struct sockaddr *)&is, &length));
  same("protocol", lo.sll_protocol, is.sll_protocol);
  same("interface", lo.sll_ifindex, is.sll_ifindex);
}

const struct program udp_programs[] = {
    {"udp-queued", queued},
    {"udp-queued-v6", queued_v6},
    {"udp-connected", connected},
    {"udp-options", options},
    {"multicast", multicast},
    {"multicast-v6", multicast_v6},
    {"udp-pending-error", pending_error},
    {"udp-corked", corked},
    {"netlink", netlink},
    {"netlink-answer", netlink_answer},
    {"raw-socket", raw},
    {"packet-socket", packets},
    {0},
};
