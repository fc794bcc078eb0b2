/* TCP connections of a copy that CRIU cannot complete alone. All sockets exist by now, and no process runs. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define PATIENCE_MS 1000 /* for the other end, which is in this kernel */

static int state_of(int fd) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) ? -1 : info.tcpi_state;
}

/* Sends what waits in the queue. The kernel does so by itself, after a probe, only while a connection is open both
 * ways; otherwise it would wait for a timer. */
int put_push(const struct target *target, const char *value) {
  (void)value;
  int corked = 0;
  socklen_t length = sizeof corked;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_CORK, &corked, &length)) return errno;
  if (corked) return 0;
  return setsockopt(fd, IPPROTO_TCP, TCP_CORK, &corked, sizeof corked) ? errno : 0;
}

static bool parse_name(int family, const char *address, unsigned port, struct sockaddr_storage *name) {
  struct sockaddr_in *four = (void *)name;
  struct sockaddr_in6 *six = (void *)name;
  *name = (struct sockaddr_storage){.ss_family = (sa_family_t)(family == 6 ? AF_INET6 : AF_INET)};
  if (port > UINT16_MAX || (family != 4 && family != 6)) return false;
  if (family == 6) {
    six->sin6_port = htons((uint16_t)port);
    return inet_pton(AF_INET6, address, &six->sin6_addr) == 1;
  }
  four->sin_port = htons((uint16_t)port);
  return inet_pton(AF_INET, address, &four->sin_addr) == 1;
}

static socklen_t length_of(const struct sockaddr_storage *name) {
  return name->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* The second call tells the socket that it is connected, once it is. */
static int connect_to(int fd, const struct sockaddr_storage *name, bool completes) {
  struct pollfd done = {.fd = fd, .events = POLLOUT};
  if (!connect(fd, (const void *)name, length_of(name))) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!completes) return 0;
  if (poll(&done, 1, PATIENCE_MS) != 1) return ETIMEDOUT;
  return connect(fd, (const void *)name, length_of(name)) && errno != EISCONN ? errno : 0;
}

/* The flags belong to the socket, not to the descriptor. */
static int without_waiting(int fd, const struct sockaddr_storage *name, bool completes) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) return errno;
  int code = connect_to(fd, name, completes);
  return fcntl(fd, F_SETFL, flags) ? errno : code;
}

/* Connects a socket anew that was in the queue of a listener, or on its way there. VALUE: FAMILY ADDRESS PORT STATE. */
int put_connection(const struct target *target, const char *value) {
  char address[INET6_ADDRSTRLEN], state[16];
  int family;
  unsigned port;
  struct sockaddr_storage name;
  if (sscanf(value, "%d %45s %u %15s", &family, address, &port, state) != 4 ||
      !parse_name(family, address, port, &name))
    return EINVAL;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  if (state_of(fd) != TCP_CLOSE) return 0; /* CRIU has restored it */
  return without_waiting(fd, &name, !strcmp(state, "established"));
}

/* What had arrived on a connection. */
struct arrived {
  int file;
  long at, length;
};

/* As much as the other end has room for. */
static int give(const struct arrived *arrived, int to) {
  char part[65536];
  for (long given = 0; given < arrived->length;) {
    long left = arrived->length - given;
    ssize_t length =
        pread(arrived->file, part, left < (long)sizeof part ? (size_t)left : sizeof part, arrived->at + given);
    if (length <= 0) return length ? errno : EIO;
    ssize_t sent = send(to, part, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? 0 : errno;
    given += sent;
  }
  return 0;
}

static int listen_on_loopback(int family, struct sockaddr_storage *name) {
  socklen_t length = sizeof *name;
  parse_name(family, family == 6 ? "::1" : "127.0.0.1", 0, name);
  autoclose int fd = socket(name->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (void *)name, length_of(name)) || listen(fd, 1) || getsockname(fd, (void *)name, &length))
    return -1;
  return take_fd(&fd);
}

/* Closes a connection as if its other end had reset it: reads give what had arrived, and then fail. A socket that
 * was never connected would answer with errors that no program expects, and without waking anybody. */
static int reset(int fd, int family, const struct arrived *arrived, bool ended) {
  struct sockaddr_storage name;
  struct linger none = {1, 0};
  autoclose int listener = listen_on_loopback(family, &name);
  if (listener < 0) return errno;
  int code = without_waiting(fd, &name, true);
  if (code) return code;
  autoclose int other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (other < 0) return errno;
  code = give(arrived, other);
  if (ended) shutdown(other, SHUT_WR);
  setsockopt(other, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return code;
}

/* VALUE: FAMILY INODE AT LENGTH END. The data are in an image of CRIU. */
int put_reset(const struct target *target, const char *value) {
  char path[PATH_MAX], end[16];
  unsigned inode;
  int family;
  struct arrived arrived;
  if (sscanf(value, "%d %x %ld %ld %15s", &family, &inode, &arrived.at, &arrived.length, end) != 5 ||
      (family != 4 && family != 6) || arrived.at < 0 || arrived.length < 0)
    return EINVAL;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  if (state_of(fd) != TCP_CLOSE) return 0; /* the connection continues */
  snprintf(path, sizeof path, "%s/tcp-stream-%x.img", target->images, inode);
  autoclose int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return errno;
  arrived.file = file;
  return reset(fd, family, &arrived, !strcmp(end, "ended"));
}
