#define _GNU_SOURCE
#include "peer.h"

#include <sys/socket.h>
#include <unistd.h>

#include "parent.h"

/* A process that was started from the outside has no parent inside. One that loses its parent inside becomes a child
 * of PID 1 or of the agent, so no process inside can pass for one. */
static bool started_from_outside(pid_t pid) { return parent_of(pid) == 0; }

bool peer_is_host(int fd, enum clients clients) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getpid() != 1 && clients != CLIENTS_RELAYS) return true;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return false;
  /* The host is in another pid namespace, so its pid is 0 here, which no process inside can have. */
  return peer.pid == 0 || (clients == CLIENTS_RELAYS && started_from_outside(peer.pid));
}
