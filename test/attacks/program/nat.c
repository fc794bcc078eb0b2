/* An environment with `nat`: addresses that it must not reach, and the host's table of connections. */
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ADDRESS:PORT in the variable. */
static struct sockaddr_in address_in(const char *variable) {
  char text[64];
  snprintf(text, sizeof text, "%s", given(variable));
  char *port = strchr(text, ':');
  struct sockaddr_in address = {.sin_family = AF_INET};
  if (port) {
    *port = '\0';
    address.sin_port = htons((uint16_t)strtol(port + 1, NULL, 10));
  }
  inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

static struct finding connect_to(const void *variable) {
  struct sockaddr_in to = address_in(variable);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (!connect(fd, (struct sockaddr *)&to, sizeof to)) return succeeded("connected");
  if (errno != EINPROGRESS) return judge(-1, "connect");
  struct pollfd answer = {.fd = fd, .events = POLLOUT};
  if (poll(&answer, 1, 500) < 1) return refused("no answer");
  int error = 0;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error});
  errno = error;
  return judge(error ? -1 : 0, "connect");
}

/* The frame goes straight to the link, past the environment's own routes. */
static struct finding send_frame(const void *with) {
  int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
  if (fd < 0) return judge(-1, "packet socket");
  struct sockaddr_in to = address_in("ATTACK_WATCHED");
  struct {
    struct iphdr ip;
    char text[4];
  } packet = {.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = 253, .tot_len = htons(sizeof packet)}, .text = "fake"};
  packet.ip.saddr = inet_addr(given("ATTACK_SENDER"));
  packet.ip.daddr = to.sin_addr.s_addr;
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof packet.ip / 2; i++) sum += ((const unsigned short *)&packet.ip)[i];
  packet.ip.check = (unsigned short)~((sum & 0xffff) + (sum >> 16));
  struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = (int)if_nametoindex("eth0"), .sll_halen = 6};
  memset(link.sll_addr, 0xff, 6);
  return tried("%s", sendto(fd, &packet, sizeof packet, 0, (struct sockaddr *)&link, sizeof link) < 0 ? strerrorname_np(errno) : "sent");
}

static struct finding track_connections(const void *with) {
  struct sockaddr_in to = address_in("ATTACK_BEYOND");
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  for (int i = 0; i < 6000; i++) {
    to.sin_port = htons((uint16_t)(1024 + i));
    sendto(fd, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
  }
  return tried("sent 6000 datagrams");
}

static const struct attack attacks[] = {
    {"nat-gateway", connect_to, "ATTACK_GATEWAY"},
    {"nat-host-address", connect_to, "ATTACK_HOST_ADDRESS"},
    {"nat-neighbour", connect_to, "ATTACK_NEIGHBOUR"},
    {"nat-link-local", connect_to, "ATTACK_LINK_LOCAL"},
    {"nat-forged-sender", send_frame},
    {"nat-connection-flood", track_connections},
};
SUBJECT(nat_attacks, attacks);
