#define _GNU_SOURCE
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "shared/owned.h"
#include "util.h"

#define SLICE 65536

/* How long to wait for an agent that has only just been started. */
#define START_WAIT_MS 10000
#define START_PAUSE_MS 2

/* One direction. Bytes are read only when those before them are written, so the reader sets the pace. */
struct flow {
  int from, to;
  size_t start, length;
  bool no_more; /* `from` has ended */
  bool done;    /* and so was `to` */
  uint8_t bytes[SLICE];
};

static bool again(int code) { return code == EAGAIN || code == EINTR; }

static bool not_yet(int code) { return code == ENOENT || code == ECONNREFUSED || code == EAGAIN; }

static int open_socket(const char *path, struct error *error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return error_set(error, ENAMETOOLONG, "socket %.200s", path);
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_set(error, errno, "socket");
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  error_set(error, errno, "connect to %s", path);
  close(fd);
  return -1;
}

int relay_connect(const char *path, enum relay_patience patience, struct error *error) {
  static const struct timespec pause = {.tv_nsec = START_PAUSE_MS * 1000000};
  for (int waited = 0;; waited += START_PAUSE_MS) {
    int fd = open_socket(path, error);
    if (fd >= 0 || patience == RELAY_NOW || !not_yet(error->code) || waited >= START_WAIT_MS) return fd;
    nanosleep(&pause, NULL);
  }
}

/* Code inside may put a socket of its own at the path. The kernel tells who listens. */
static int check_listener(int fd, const char *path, pid_t listener, struct error *error) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
    return error_set(error, errno, "getsockopt SO_PEERCRED of %s", path);
  if (peer.pid == listener) return 0;
  return error_refuse(error, EPERM, "process %d listens on %s, not the agent, which is process %d", peer.pid, path,
                      listener);
}

static void end_reading(struct flow *flow) {
  flow->no_more = true;
  if (flow->length) return;
  flow->done = true;
  if (flow->to == STDOUT_FILENO)
    close(STDOUT_FILENO);
  else
    shutdown(flow->to, SHUT_WR);
}

static int fill(struct flow *flow, struct error *error) {
  ssize_t got = read(flow->from, flow->bytes, sizeof flow->bytes);
  if (got < 0 && again(errno)) return 0;
  if (got < 0 && errno != ECONNRESET) return error_set(error, errno, "read from descriptor %d", flow->from);
  if (got <= 0) {
    end_reading(flow);
    return 0;
  }
  flow->start = 0;
  flow->length = got;
  return 0;
}

static int drain(struct flow *flow, struct error *error) {
  ssize_t put = write(flow->to, flow->bytes + flow->start, flow->length);
  if (put < 0 && again(errno)) return 0;
  if (put < 0) return error_set(error, errno, "write to descriptor %d", flow->to);
  flow->start += put;
  flow->length -= put;
  if (!flow->length && flow->no_more) end_reading(flow);
  return 0;
}

/* Does what can be done without waiting: a write often follows a read at once. */
static int move(struct flow *flow, struct error *error) {
  if (!flow->length && !flow->no_more && fill(flow, error) < 0) return -1;
  return flow->length ? drain(flow, error) : 0;
}

/* What this direction waits for. An entry without a descriptor is ignored by poll. */
static struct pollfd interest(const struct flow *flow) {
  if (flow->done) return (struct pollfd){.fd = -1};
  if (flow->length) return (struct pollfd){.fd = flow->to, .events = POLLOUT};
  return (struct pollfd){.fd = flow->from, .events = POLLIN};
}

static int join(struct flow *in, struct flow *out, struct error *error) {
  /* Once the agent has closed its end, nobody would read what is still coming in. */
  while (!out->done) {
    struct pollfd waits[] = {interest(in), interest(out)};
    if (poll(waits, 2, -1) < 0) {
      if (errno != EINTR) return error_set(error, errno, "poll");
      continue;
    }
    if (waits[0].revents && move(in, error) < 0) return -1;
    if (waits[1].revents && move(out, error) < 0) return -1;
  }
  return 0;
}

static void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

int relay_run(const char *path, pid_t listener, struct error *error) {
  static struct flow in, out;
  signal(SIGPIPE, SIG_IGN);
  autoclose int fd = relay_connect(path, RELAY_WAIT, error);
  if (fd < 0 || (listener > 0 && check_listener(fd, path, listener, error) < 0)) return -1;
  set_nonblocking(fd);
  set_nonblocking(STDIN_FILENO);
  set_nonblocking(STDOUT_FILENO);
  in.from = STDIN_FILENO;
  in.to = out.from = fd;
  out.to = STDOUT_FILENO;
  return join(&in, &out, error);
}
