/* Loopback and the veth pair, over rtnetlink: running `ip` would take longer. */
#define _GNU_SOURCE
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

#include "network.h"
#include "report.h"
#include "shared/owned.h"

#define INSIDE_INTERFACE "eth0"
#define LOOSE_END "loose"

struct request {
  struct nlmsghdr header;
  char body[512];
};

static void *append(struct request *r, const void *data, size_t length) {
  if (NLMSG_ALIGN(r->header.nlmsg_len) + length > sizeof *r) die_because("a netlink request is too long");
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

/* 0, or -1 with the kernel's answer in errno. */
static int exchange(const struct request *r) {
  autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) die("socket NETLINK_ROUTE");
  if (send(fd, r, r->header.nlmsg_len, 0) < 0) die("send to NETLINK_ROUTE");
  struct {
    struct nlmsghdr header;
    struct nlmsgerr error;
    char rest[4096];
  } answer;
  ssize_t length = recv(fd, &answer, sizeof answer, 0);
  if (length < 0) die("recv from NETLINK_ROUTE");
  if ((size_t)length < NLMSG_LENGTH(sizeof answer.error.error)) die_because("NETLINK_ROUTE gave a short answer");
  errno = -answer.error.error;
  return errno ? -1 : 0;
}

static void bring_up(const char *interface) {
  autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket AF_INET");
  struct ifreq r = {0};
  strncpy(r.ifr_name, interface, sizeof r.ifr_name - 1);
  if (ioctl(fd, SIOCGIFFLAGS, &r)) die("ioctl SIOCGIFFLAGS of '%s'", interface);
  r.ifr_flags |= IFF_UP | IFF_RUNNING;
  if (ioctl(fd, SIOCSIFFLAGS, &r)) die("ioctl SIOCSIFFLAGS of '%s'", interface);
}

void bring_loopback_up(void) { bring_up("lo"); }

static struct in_addr parse_address(const char *text) {
  struct in_addr address;
  if (!text || inet_pton(AF_INET, text, &address) != 1) die_because("'%s' is not an IPv4 address", text ? text : "");
  return address;
}

static void add_address(const char *interface, const char *address, unsigned prefix) {
  struct in_addr ip = parse_address(address);
  struct request r = request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  struct ifaddrmsg message = {
      .ifa_family = AF_INET, .ifa_prefixlen = (unsigned char)prefix, .ifa_index = if_nametoindex(interface)};
  append(&r, &message, sizeof message);
  add(&r, IFA_LOCAL, &ip, sizeof ip);
  add(&r, IFA_ADDRESS, &ip, sizeof ip);
  if (exchange(&r)) die("RTM_NEWADDR %s/%u on '%s'", address, prefix, interface);
}

/* A pair whose end inside is in the network of PEER. */
static void create_pair(const char *name, pid_t peer) {
  struct request r = request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
  append(&r, &link, sizeof link);
  add(&r, IFLA_IFNAME, name, strlen(name) + 1);
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
  if (exchange(&r)) die("RTM_NEWLINK veth '%s'", name);
}

void create_veth(const struct spec *spec, pid_t peer) {
  create_pair(spec->veth, peer);
  add_address(spec->veth, spec->gateway, spec->prefix);
  bring_up(spec->veth);
}

/* If it exists. */
static void delete_link(const char *interface) {
  struct request r = request(RTM_DELLINK, 0);
  struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
  append(&r, &link, sizeof link);
  add(&r, IFLA_IFNAME, interface, strlen(interface) + 1);
  if (exchange(&r) && errno != ENODEV) die("RTM_DELLINK '%s'", interface);
}

void configure_inside(const struct spec *spec) {
  add_address(INSIDE_INTERFACE, spec->address, spec->prefix);
  bring_up(INSIDE_INTERFACE);
  struct in_addr gateway = parse_address(spec->gateway);
  struct request r = request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
  struct rtmsg route = {.rtm_family = AF_INET,
                        .rtm_table = RT_TABLE_MAIN,
                        .rtm_protocol = RTPROT_STATIC,
                        .rtm_scope = RT_SCOPE_UNIVERSE,
                        .rtm_type = RTN_UNICAST};
  append(&r, &route, sizeof route);
  add(&r, RTA_GATEWAY, &gateway, sizeof gateway);
  if (exchange(&r)) die("RTM_NEWROUTE default via %s", spec->gateway);
}

void enter_network(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  if (setns(fd, CLONE_NEWNET)) die("setns to '%s'", path);
  close(fd);
}

void connect_cell(const struct spec *spec, pid_t pid) {
  delete_link(spec->veth);
  create_veth(spec, pid);
  enter_network(pid);
  configure_inside(spec);
}

void stand_alone(const struct spec *spec, pid_t pid) {
  enter_network(pid);
  create_pair(LOOSE_END, getpid());
  bring_up(LOOSE_END);
  configure_inside(spec);
}

void set_absent_addresses(bool allowed) {
  static const char path[] = "/proc/sys/net/ipv4/ip_nonlocal_bind";
  autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  if (write(fd, allowed ? "1" : "0", 1) != 1) die("write to '%s'", path);
}

void verb_connect(char **words) {
  static struct spec spec;
  parse_all_options(&spec, words);
  if (!spec.veth || !spec.pid) die_because("connect needs --pid and --veth");
  connect_cell(&spec, (pid_t)spec.pid);
}

void verb_disconnect(char **words) {
  delete_link(words[0]);
  for (char **address = words + 1; *address; address++) forget_connections(*address);
}
