/* Descriptors of a frozen process that CRIU does not restore as they are. */
#define _GNU_SOURCE
#include "sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pipes.h"
#include "queues.h"
#include "report.h"
#include "shared/owned.h"
#include "waits.h"

/* A Unix socket whose SO_PEEK_OFF CRIU may have set for the length of its dump, or whose datagrams have senders. */
struct doubtful {
  struct socket socket;
};

static int by_value(const void *a, const void *b) {
  uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
  return (first > second) - (first < second);
}

bool is_new(struct noting *noting, unsigned long inode) {
  if (tfind((void *)inode, &noting->seen, by_value)) return false;
  require_memory(tsearch((void *)inode, &noting->seen, by_value));
  return true;
}

void begin_line(FILE *to, const char *word, const struct socket *socket) {
  fprintf(to, "%s %d %d ", word, socket->process, socket->number);
}

static int number_option(int fd, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(fd, SOL_SOCKET, name, &value, &length) ? -1 : value;
}

/* New sockets are made there, to compare with, and its multicast groups are known there. */
static void enter_network_once(struct noting *noting, pid_t process) {
  char path[64];
  if (noting->in_network) return;
  noting->in_network = true;
  snprintf(path, sizeof path, "/proc/%d/ns/net", process);
  autoclose int network = open(path, O_RDONLY | O_CLOEXEC);
  if (network < 0 || setns(network, CLONE_NEWNET)) die("setns to '%s'", path);
  find_memberships(noting, process);
}

static void keep_doubtful(struct noting *noting, struct socket *socket) {
  size_t count = noting->doubtful_count;
  if (!(count & (count - 1)))
    noting->doubtful = require_memory(realloc(noting->doubtful, (count ? 2 * count : 1) * sizeof *noting->doubtful));
  noting->doubtful[noting->doubtful_count++] = (struct doubtful){*socket};
  socket->fd = -1;
}

/* Who is at the other end of connections that wait is known only when all sockets are. */
static void note_end(struct noting *noting, struct socket *socket, unsigned long inode) {
  struct socket kept = *socket;
  if (socket->family != AF_UNIX || socket->type == SOCK_DGRAM) return;
  bool keeps = has_backlog(socket->fd);
  if (!keeps) kept.fd = -1;
  keep_end(noting, &kept, inode);
  if (keeps) socket->fd = -1;
}

static void note_socket(struct noting *noting, pid_t process, const struct status *inside, int number,
                        unsigned long inode) {
  struct socket socket = {.process = inside->process, .number = number};
  socket.fd = borrow_descriptor(process, number);
  if (socket.fd < 0) return;
  socket.family = number_option(socket.fd, SO_DOMAIN);
  socket.type = number_option(socket.fd, SO_TYPE);
  socket.protocol = number_option(socket.fd, SO_PROTOCOL);
  enter_network_once(noting, process);
  note_options(noting, &socket);
  if (socket.type == SOCK_DGRAM || socket.type == SOCK_RAW) note_memberships(noting, &socket);
  note_datagrams(noting, &socket);
  note_socket_losses(noting, &socket, process);
  if (socket.family == AF_NETLINK) note_unread_of_kernel(noting, &socket);
  if (socket.protocol == IPPROTO_UDP) note_half_datagram(noting, &socket);
  bool is_peeked = number_option(socket.fd, SO_PEEK_OFF) >= 0, has_senders = socket.type == SOCK_DGRAM;
  if (socket.family == AF_UNIX && (is_peeked || has_senders)) keep_doubtful(noting, &socket);
  if (socket.fd >= 0) note_end(noting, &socket, inode);
  if (socket.fd >= 0) close(socket.fd);
}

static void note_descriptor(struct noting *noting, pid_t process, const struct status *inside, int directory,
                            const char *name) {
  char to[NAME_MAX + 16];
  unsigned long inode;
  ssize_t length = readlinkat(directory, name, to, sizeof to - 1);
  to[length > 0 ? length : 0] = 0;
  if (sscanf(to, "socket:[%lu]", &inode) == 1) {
    if (is_new(noting, inode)) note_socket(noting, process, inside, atoi(name), inode);
  } else if (sscanf(to, "pipe:[%lu]", &inode) == 1) {
    note_pipe(noting, process, inside->process, atoi(name), inode);
  } else if (*to == '/' && !strchr(to + 1, '/')) { /* queues have no directories */
    autoclose int fd = borrow_descriptor(process, atoi(name));
    if (fd >= 0) note_queue(noting, fd, inside->process, atoi(name));
  } else {
    note_counter(noting, process, inside->process, atoi(name), to);
  }
}

void note_descriptors(struct noting *noting, pid_t process) {
  char path[64];
  struct status inside;
  snprintf(path, sizeof path, "/proc/%d/fd", process);
  DIR *list = read_status(process, process, &inside) ? opendir(path) : NULL;
  if (!list) return; /* a zombie has none */
  if (!noting->first) noting->first = process;
  for (struct dirent *entry; (entry = readdir(list));)
    if (*entry->d_name != '.') note_descriptor(noting, process, &inside, dirfd(list), entry->d_name);
  closedir(list);
}

void note_doubtful(struct noting *noting) {
  for (size_t i = 0; i < noting->doubtful_count; i++) {
    const struct socket *socket = &noting->doubtful[i].socket;
    int offset = number_option(socket->fd, SO_PEEK_OFF);
    if (socket->type == SOCK_DGRAM) note_senders(noting, socket, offset);
    close(socket->fd);
    if (offset < 0) continue;
    begin_line(noting->to, "option", socket);
    fprintf(noting->to, "%d %d ", SOL_SOCKET, SO_PEEK_OFF);
    print_hex(noting->to, &offset, sizeof offset);
    putc('\n', noting->to);
  }
}
