/* Sockets with something that CRIU cannot dump, and that `cell waits` notes: unread messages of the kernel (see
 * cell/sockets/netlink.c), and half a datagram (corked.c there). CRIU does not see it. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "objects.h"
#include "preload/calls.h"
#include "preload/raw.h"

static bool is_netlink(int fd) {
  int family = 0;
  socklen_t length = sizeof family;
  return !raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, (long)&family, (long)&length, 0) &&
         family == AF_NETLINK;
}

int poll(struct pollfd *fds, nfds_t count, int timeout) {
  struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000};
  long result = raw_syscall(SYS_ppoll, (long)fds, (long)count, timeout < 0 ? 0 : (long)&limit, 0, 0, 0);
  bool asks_for_data = !restores() && result == 1 && count == 1 && !timeout && fds->events == POLLIN;
  if (asks_for_data && is_netlink(fds->fd) && note_hidden()) return 0;
  return (int)with_errno(result);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *length) {
  long result = raw_syscall(SYS_getsockopt, fd, level, name, (long)value, (long)length, 0);
  if (!result && !restores() && level == IPPROTO_UDP && name == UDP_CORK && *(int *)value && note_hidden())
    *(int *)value = 0;
  return (int)with_errno(result);
}
