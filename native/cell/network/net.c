/* Loopback and the veth pair, by rtnetlink: no `ip` process on the way. */
#define _GNU_SOURCE
#include "cell.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define INSIDE_INTERFACE "eth0"

struct request {
  struct nlmsghdr header;
  char body[512];
};

static void *append(struct request *r, const void *data, size_t length) {
  char *at = (char *)r + NLMSG_ALIGN(r->header.nlmsg_len);
  if (data)
    memcpy(at, data, length);
  else
    memset(at, 0, length);
  r->header.nlmsg_len = NLMSG_ALIGN(r->header.nlmsg_len) + (uint32_t)length;
  return at;
}

static struct rtattr *add(struct request *r, unsigned short type, const void *data, size_t length) {
  struct rtattr attr = {.rta_type = type, .rta_len = (unsigned short)RTA_LENGTH(length)};
  struct rtattr *at = append(r, &attr, sizeof attr);
  if (length) append(r, data, length);
  return at;
}

static void end_nest(struct request *r, struct rtattr *nest) {
  nest->rta_len = (unsigned short)((char *)r + NLMSG_ALIGN(r->header.nlmsg_len) - (char *)nest);
}

static struct request request(unsigned short type, unsigned short flags) {
  return (struct request){.header = {.nlmsg_len = NLMSG_HDRLEN,
                                     .nlmsg_type = type,
                                     .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags)}};
}

/* 0, or -1 with errno as the kernel answered. */
static int exchange(const struct request *r) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) die("socket", "netlink");
  if (send(fd, r, r->header.nlmsg_len, 0) < 0) die("send", "netlink");
  char answer[4096];
  if (recv(fd, answer, sizeof answer, 0) < (ssize_t)sizeof(struct nlmsghdr)) die("recv", "netlink");
  close(fd);
  const struct nlmsgerr *error = NLMSG_DATA((struct nlmsghdr *)answer);
  errno = -error->error;
  return errno ? -1 : 0;
}

static void send_request(const struct request *r, const char *what, const char *on) {
  if (exchange(r)) die(what, on);
}

static void bring_up(const char *interface) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket", "inet");
  struct ifreq r = {0};
  strncpy(r.ifr_name, interface, sizeof r.ifr_name - 1);
  if (ioctl(fd, SIOCGIFFLAGS, &r)) die("SIOCGIFFLAGS", interface);
  r.ifr_flags |= IFF_UP | IFF_RUNNING;
  if (ioctl(fd, SIOCSIFFLAGS, &r)) die("SIOCSIFFLAGS", interface);
  close(fd);
}

void bring_loopback_up(void) { bring_up("lo"); }

static void add_address(const char *interface, const char *address, unsigned prefix) {
  struct in_addr ip;
  if (inet_pton(AF_INET, address, &ip) != 1) die_usage("not an IPv4 address", address);
  struct request r = request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  struct ifaddrmsg message = {.ifa_family = AF_INET,
                              .ifa_prefixlen = (unsigned char)prefix,
                              .ifa_index = if_nametoindex(interface)};
  append(&r, &message, sizeof message);
  add(&r, IFA_LOCAL, &ip, sizeof ip);
  add(&r, IFA_ADDRESS, &ip, sizeof ip);
  send_request(&r, "add address", address);
}

void create_veth(const struct spec *spec, pid_t peer) {
  struct request r = request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
  append(&r, &link, sizeof link);
  add(&r, IFLA_IFNAME, spec->veth, strlen(spec->veth) + 1);
  struct rtattr *info = add(&r, IFLA_LINKINFO, NULL, 0);
  add(&r, IFLA_INFO_KIND, "veth", 4);
  struct rtattr *data = add(&r, IFLA_INFO_DATA, NULL, 0);
  struct rtattr *other = add(&r, VETH_INFO_PEER, NULL, 0);
  append(&r, &link, sizeof link);
  add(&r, IFLA_IFNAME, INSIDE_INTERFACE, sizeof INSIDE_INTERFACE);
  uint32_t pid = (uint32_t)peer;
  add(&r, IFLA_NET_NS_PID, &pid, sizeof pid);
  end_nest(&r, other);
  end_nest(&r, data);
  end_nest(&r, info);
  send_request(&r, "create veth", spec->veth);
  add_address(spec->veth, spec->gateway, spec->prefix);
  bring_up(spec->veth);
}

void delete_link(const char *interface) {
  struct request r = request(RTM_DELLINK, 0);
  struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
  append(&r, &link, sizeof link);
  add(&r, IFLA_IFNAME, interface, strlen(interface) + 1);
  if (exchange(&r) && errno != ENODEV) die("delete link", interface);
}

void configure_inside(const struct spec *spec) {
  add_address(INSIDE_INTERFACE, spec->address, spec->prefix);
  bring_up(INSIDE_INTERFACE);
  struct in_addr gateway;
  inet_pton(AF_INET, spec->gateway, &gateway);
  struct request r = request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
  struct rtmsg route = {.rtm_family = AF_INET,
                        .rtm_table = RT_TABLE_MAIN,
                        .rtm_protocol = RTPROT_STATIC,
                        .rtm_scope = RT_SCOPE_UNIVERSE,
                        .rtm_type = RTN_UNICAST};
  append(&r, &route, sizeof route);
  add(&r, RTA_GATEWAY, &gateway, sizeof gateway);
  send_request(&r, "add default route via", spec->gateway);
}

void enter_network(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open", path);
  if (setns(fd, CLONE_NEWNET)) die("setns", path);
  close(fd);
}

void connect_cell(const struct spec *spec, pid_t pid) {
  delete_link(spec->veth);
  create_veth(spec, pid);
  enter_network(pid);
  configure_inside(spec);
}
