/* Multicast groups that sockets have joined. The kernel lists the groups of an interface, and tells for a socket and a
 * group whether it is a member. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define MOST_SOURCES 64 /* that are kept */

/* As the kernel wants it, with room for sources. */
union filter {
  struct group_filter head;
  uint8_t bytes[GROUP_FILTER_SIZE(MOST_SOURCES)];
};

static void add_membership(struct noting *noting, const struct membership *membership) {
  size_t count = noting->membership_count;
  if (!(count & (count - 1)))
    noting->memberships =
        require_memory(realloc(noting->memberships, (count ? 2 * count : 1) * sizeof *noting->memberships));
  noting->memberships[noting->membership_count++] = *membership;
}

/* The kernel itself is a member of some groups. */
static bool is_of_kernel_v4(const uint8_t *group, int users) {
  static const uint8_t all_hosts[4] = {224, 0, 0, 1};
  return users == 1 && !memcmp(group, all_hosts, sizeof all_hosts);
}

static bool is_of_kernel_v6(const uint8_t *group, int users) {
  static const uint8_t all_nodes[14] = {0}, solicited[11] = {0xff, 0x02, [10] = 0};
  bool is_all = group[0] == 0xff && group[1] <= 0x02 && !memcmp(group + 2, all_nodes, 13) && group[15] == 1;
  bool is_solicited = !memcmp(group, solicited, 11) && group[11] == 1 && group[12] == 0xff;
  return users == 1 && (is_all || is_solicited);
}

static void find_in_v4(struct noting *noting, FILE *list) {
  char line[256];
  struct membership found = {.family = AF_INET};
  for (unsigned index, group, users; fgets(line, sizeof line, list);) {
    if (*line != '\t' && sscanf(line, "%u", &index) == 1) found.interface = index;
    if (*line != '\t' || sscanf(line, " %8X %u", &group, &users) != 2) continue;
    memcpy(found.group, &group, sizeof group); /* it prints the bytes as they lie in memory */
    if (!is_of_kernel_v4(found.group, (int)users)) add_membership(noting, &found);
  }
}

static void find_in_v6(struct noting *noting, FILE *list) {
  char line[256], group[33];
  struct membership found = {.family = AF_INET6};
  for (unsigned users; fgets(line, sizeof line, list);) {
    if (sscanf(line, "%u %*s %32s %u", &found.interface, group, &users) != 3) continue;
    if (parse_hex(group, found.group, sizeof found.group) != sizeof found.group) continue;
    if (!is_of_kernel_v6(found.group, (int)users)) add_membership(noting, &found);
  }
}

void find_memberships(struct noting *noting, pid_t process) {
  static const struct {
    const char *name;
    void (*find)(struct noting *noting, FILE *list);
  } lists[] = {{"igmp", find_in_v4}, {"igmp6", find_in_v6}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/net/%s", process, lists[i].name);
    FILE *list = fopen(path, "re");
    if (!list) continue; /* a kernel without it */
    lists[i].find(noting, list);
    fclose(list);
  }
}

static void set_address(struct sockaddr_storage *to, int family, const uint8_t *bytes) {
  to->ss_family = (sa_family_t)family;
  if (family == AF_INET)
    memcpy(&((struct sockaddr_in *)to)->sin_addr, bytes, 4);
  else
    memcpy(&((struct sockaddr_in6 *)to)->sin6_addr, bytes, 16);
}

static const void *address_in(const struct sockaddr_storage *from) {
  return from->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
                                    : &((const struct sockaddr_in6 *)from)->sin6_addr;
}

static size_t size_of(int family) { return family == AF_INET ? 4 : 16; }
static int level_of(int family) { return family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6; }

static void note_membership(struct noting *noting, const struct socket *socket, const struct membership *found) {
  union filter filter = {.head = {.gf_interface = found->interface, .gf_numsrc = MOST_SOURCES}};
  socklen_t length = sizeof filter;
  char name[IF_NAMESIZE];
  set_address(&filter.head.gf_group, found->family, found->group);
  if (getsockopt(socket->fd, level_of(found->family), MCAST_MSFILTER, &filter, &length)) return;
  if (!if_indextoname(found->interface, name) || filter.head.gf_numsrc > MOST_SOURCES) return;
  begin_line(noting->to, "member", socket);
  fprintf(noting->to, "%d %u ", found->family, filter.head.gf_fmode);
  print_hex(noting->to, name, strlen(name));
  putc(' ', noting->to);
  print_hex(noting->to, found->group, size_of(found->family));
  for (uint32_t i = 0; i < filter.head.gf_numsrc; i++) {
    putc(' ', noting->to);
    print_hex(noting->to, address_in(&filter.head.gf_slist[i]), size_of(found->family));
  }
  putc('\n', noting->to);
}

/* A socket of IPv6 can also be a member of groups of IPv4. */
void note_memberships(struct noting *noting, const struct socket *socket) {
  if (socket->family != AF_INET && socket->family != AF_INET6) return;
  for (size_t i = 0; i < noting->membership_count; i++)
    if (socket->family == AF_INET6 || noting->memberships[i].family == AF_INET)
      note_membership(noting, socket, &noting->memberships[i]);
}

static const char *next_word(const char *text) {
  const char *space = strchr(text, ' ');
  return space ? space + 1 : NULL;
}

static bool parse_address(const char *text, int family, struct sockaddr_storage *address) {
  uint8_t bytes[16];
  if (!text || parse_hex(text, bytes, sizeof bytes) != (ssize_t)size_of(family)) return false;
  set_address(address, family, bytes);
  return true;
}

static bool parse_filter(const char *value, int *family, union filter *filter) {
  int at = 0;
  char name[IF_NAMESIZE] = "";
  struct group_filter *head = &filter->head;
  if (sscanf(value, "%d %u %n", family, &head->gf_fmode, &at) != 2 || !at) return false;
  if ((*family != AF_INET && *family != AF_INET6) || head->gf_fmode > MCAST_INCLUDE) return false;
  if (parse_hex(value + at, name, sizeof name - 1) <= 0) return false;
  head->gf_interface = if_nametoindex(name);
  const char *word = next_word(value + at);
  if (!parse_address(word, *family, &head->gf_group)) return false;
  while ((word = next_word(word))) {
    if (head->gf_numsrc == MOST_SOURCES) return false;
    if (!parse_address(word, *family, &head->gf_slist[head->gf_numsrc++])) return false;
  }
  return true;
}

/* This process is in the network of the copy, whose interfaces may have other numbers. */
int put_membership(const struct target *target, const char *value) {
  union filter filter = {0};
  int family;
  if (!parse_filter(value, &family, &filter)) return EINVAL;
  if (!filter.head.gf_interface) return ENODEV;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  struct group_req join = {.gr_interface = filter.head.gf_interface, .gr_group = filter.head.gf_group};
  if (setsockopt(fd, level_of(family), MCAST_JOIN_GROUP, &join, sizeof join) && errno != EADDRINUSE) return errno;
  if (filter.head.gf_fmode == MCAST_EXCLUDE && !filter.head.gf_numsrc) return 0;
  socklen_t length = GROUP_FILTER_SIZE(filter.head.gf_numsrc);
  return setsockopt(fd, level_of(family), MCAST_MSFILTER, &filter, length) ? errno : 0;
}
