/* What a copy cannot have of a descriptor. It is only noted, for the record of the snapshot: see
 * src/criu/losses/noted-losses.ts for the words. Nothing here takes anything out of the original. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

void note_loss(const struct noting *noting, const struct socket *socket, const char *what) {
  begin_line(noting->to, "lost", socket);
  fprintf(noting->to, "%s\n", what);
}

/* Number of the host's user that is root inside; of all processes of a cell. */
static unsigned root_of(pid_t process) {
  char path[64], text[64] = "";
  unsigned first = 1, root = 0;
  snprintf(path, sizeof path, "/proc/%d/uid_map", process);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && sscanf(text, "%u %u", &first, &root) == 2 && !first)
    return root;
  return 0;
}

/* CRIU connects both ends itself, as root. Only who is taken for more than he is matters. */
static void note_peer(const struct noting *noting, const struct socket *socket, pid_t process) {
  struct ucred peer = {0};
  socklen_t length = sizeof peer;
  char what[64];
  if (getsockopt(socket->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) return;
  unsigned root = root_of(process);
  if (!peer.pid || (peer.uid == root && peer.gid == root) || peer.uid < root || peer.gid < root) return;
  snprintf(what, sizeof what, "peer %u %u", peer.uid - root, peer.gid - root);
  note_loss(noting, socket, what);
}

void note_socket_losses(const struct noting *noting, const struct socket *socket, pid_t process) {
  struct pollfd state = {.fd = socket->fd, .events = POLLIN | POLLPRI};
  if (poll(&state, 1, 0) < 0) return;
  if (state.revents & POLLERR) note_loss(noting, socket, "error");
  if (state.revents & POLLPRI && socket->type == SOCK_STREAM) note_loss(noting, socket, "urgent");
  /* netlink.c sees to what waits in a netlink socket. */
  bool is_raw = (socket->type == SOCK_RAW && socket->family != AF_NETLINK) || socket->family == AF_PACKET;
  if (state.revents & POLLIN && is_raw) note_loss(noting, socket, "packets");
  if (socket->family == AF_UNIX) note_peer(noting, socket, process);
}

void note_unread_events(const struct noting *noting, const struct socket *watcher) {
  int bytes = 0;
  if (ioctl(watcher->fd, FIONREAD, &bytes) || bytes <= 0) return;
  note_loss(noting, watcher, can_overflow() ? "events-told" : "events");
  if (!can_overflow()) return;
  begin_line(noting->to, "overflow", watcher);
  fputs("-\n", noting->to);
}

/* Whether a datagram that nobody has read came from a socket with a name. */
static bool has_named_sender(int fd) {
  struct sockaddr_un sender;
  char byte;
  for (int i = 0; i < 4096; i++) {
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &one, .msg_iovlen = 1};
    if (recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT) <= 0) return false;
    if (message.msg_namelen > offsetof(struct sockaddr_un, sun_path)) return true;
  }
  return false;
}

/* Once CRIU, which looks at them in the same manner, is done. */
void note_senders(const struct noting *noting, const struct socket *socket, int offset) {
  int start = 0;
  if (setsockopt(socket->fd, SOL_SOCKET, SO_PEEK_OFF, &start, sizeof start)) return;
  if (has_named_sender(socket->fd)) note_loss(noting, socket, "senders");
  setsockopt(socket->fd, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset);
}
