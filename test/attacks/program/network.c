/* The host's network from an environment without one, and kinds of sockets that ignore namespaces. */
#define _GNU_SOURCE
#include "attack.h"
#include "targets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct kind {
  int family, type, protocol;
};

static struct finding open_socket(const void *with) {
  const struct kind *kind = with;
  return judge(socket(kind->family, kind->type, kind->protocol), "socket");
}

static struct finding connect_ipv4(const void *address) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)given_number("ATTACK_PORT"))};
  inet_pton(AF_INET, address, &to.sin_addr);
  return judge(connect(fd, (struct sockaddr *)&to, sizeof to), address);
}

static struct finding connect_ipv6(const void *with) {
  int fd = socket(AF_INET6, SOCK_STREAM, 0);
  struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)given_number("ATTACK_PORT")), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  return judge(connect(fd, (struct sockaddr *)&to, sizeof to), "::1");
}

/* The watcher sends datagrams with a mark over the host's loopback all the time. */
static struct finding sniff(const void *with) {
  int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
  if (fd < 0) return judge(-1, "packet socket");
  struct pollfd input = {.fd = fd, .events = POLLIN};
  char packet[2048];
  for (int i = 0; i < 40 && poll(&input, 1, 300) > 0; i++) {
    ssize_t length = recv(fd, packet, sizeof packet, 0);
    if (length > 0 && memmem(packet, (size_t)length, TARGET_MARK, strlen(TARGET_MARK))) return succeeded("saw a packet of the host");
  }
  return refused("saw no packet of the host");
}

static struct finding other_interface(const void *with) {
  struct if_nameindex *all = if_nameindex();
  for (struct if_nameindex *each = all; each && each->if_index; each++)
    if (strcmp(each->if_name, "lo") && strcmp(each->if_name, "eth0")) return succeeded("there is %s", each->if_name);
  return refused("there is loopback and at most a link of its own");
}

static struct finding interface_down(const void *with) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (ioctl(fd, SIOCGIFFLAGS, &request)) return broken("SIOCGIFFLAGS");
  request.ifr_flags |= IFF_UP;
  return judge(ioctl(fd, SIOCSIFFLAGS, &request), "change an interface");
}

static struct finding add_interface(const void *with) {
  struct {
    struct nlmsghdr head;
    struct ifinfomsg info;
    struct rtattr name;
    char text[8];
    struct rtattr link;
    struct rtattr kind;
    char value[8];
  } request = {
      .head = {sizeof request, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, 0},
      .name = {sizeof(struct rtattr) + 8, IFLA_IFNAME},
      .text = "attack0",
      .link = {2 * sizeof(struct rtattr) + 8, IFLA_LINKINFO},
      .kind = {sizeof(struct rtattr) + 8, IFLA_INFO_KIND},
      .value = "veth",
  };
  request.kind.rta_len = sizeof(struct rtattr) + 5;
  int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  if (send(fd, &request, sizeof request, 0) < 0) return broken("send");
  char answer[4096];
  if (recv(fd, answer, sizeof answer, 0) < 0) return broken("recv");
  const struct nlmsgerr *error = NLMSG_DATA((struct nlmsghdr *)answer);
  errno = -error->error;
  return judge(errno ? -1 : 0, "new interface");
}

static struct finding mark_packets(const void *with) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  return judge(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &(int){1 << 28}, sizeof(int)), "buffer beyond the limit");
}

static struct finding repair_connection(const void *with) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return judge(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &(int){1}, sizeof(int)), "TCP_REPAIR");
}

#define SOCKET(family, type, protocol) (&(const struct kind){(family), (type), (protocol)})
#define NETLINK(name, protocol) {"netlink-" name, open_socket, SOCKET(AF_NETLINK, SOCK_RAW, protocol)}

static const struct attack attacks[] = {
    {"socket-vsock", open_socket, SOCKET(AF_VSOCK, SOCK_STREAM, 0)},
    {"socket-vsock-datagram", open_socket, SOCKET(AF_VSOCK, SOCK_SEQPACKET, 0)},
    {"socket-xdp", open_socket, SOCKET(AF_XDP, SOCK_RAW, 0)},
    {"socket-alg", open_socket, SOCKET(AF_ALG, SOCK_SEQPACKET, 0), FAMILY(AF_ALG)},
    {"socket-tipc", open_socket, SOCKET(AF_TIPC, SOCK_STREAM, 0), FAMILY(AF_TIPC)},
    {"socket-rds", open_socket, SOCKET(AF_RDS, SOCK_SEQPACKET, 0), FAMILY(AF_RDS)},
    {"socket-bluetooth", open_socket, SOCKET(AF_BLUETOOTH, SOCK_RAW, 1), FAMILY(AF_BLUETOOTH)},
    {"socket-can", open_socket, SOCKET(AF_CAN, SOCK_RAW, 1), FAMILY(AF_CAN)},
    {"socket-key", open_socket, SOCKET(AF_KEY, SOCK_RAW, 2), FAMILY(AF_KEY)},
    {"socket-smc", open_socket, SOCKET(AF_SMC, SOCK_STREAM, 0), FAMILY(AF_SMC)},
    {"socket-kcm", open_socket, SOCKET(AF_KCM, SOCK_DGRAM, 0), FAMILY(AF_KCM)},
    {"socket-qrtr", open_socket, SOCKET(AF_QIPCRTR, SOCK_DGRAM, 0), FAMILY(AF_QIPCRTR)},
    {"socket-sctp", open_socket, SOCKET(AF_INET, SOCK_STREAM, 132), FAMILY(AF_INET)},
    {"socket-mptcp", open_socket, SOCKET(AF_INET, SOCK_STREAM, 262), FAMILY(AF_INET)},
    NETLINK("audit", NETLINK_AUDIT),
    NETLINK("uevent", NETLINK_KOBJECT_UEVENT),
    NETLINK("netfilter", NETLINK_NETFILTER),
    NETLINK("generic", NETLINK_GENERIC),
    NETLINK("sock-diag", NETLINK_SOCK_DIAG),
    NETLINK("xfrm", NETLINK_XFRM),
    NETLINK("connector", NETLINK_CONNECTOR),
    {"host-tcp", connect_ipv4, "127.0.0.1"},
    {"host-tcp-any", connect_ipv4, "0.0.0.0"},
    {"host-tcp-ipv6", connect_ipv6},
    {"host-sniff", sniff},
    {"interface-other", other_interface},
    {"interface-change", interface_down},
    {"interface-add", add_interface},
    {"socket-buffer-force", mark_packets},
    {"tcp-repair", repair_connection},
};
SUBJECT(network_attacks, attacks);
