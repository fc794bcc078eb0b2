#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "relay.h"
#include "util.h"

/* Longer than the agent takes to end what it has started. */
#define LEAVE_WAIT_MS 20000

/* Removes the program, and gives its directory back the time that it had. */
static int forget(const struct brought *brought, struct error *error) {
  struct timespec times[2];
  if (unlink(brought->program) < 0 && errno != ENOENT) return error_set(error, errno, "unlink '%s'", brought->program);
  if (brought->stale && unlink(brought->stale) < 0 && errno != ENOENT)
    return error_set(error, errno, "unlink '%s'", brought->stale);
  const char *slash = strrchr(brought->program, '/');
  autofree char *directory = strndup(brought->program, slash ? slash - brought->program + 1 : 0);
  if (!directory) return error_set(error, ENOMEM, "malloc");
  modification_time(times, brought->time);
  return utimensat(AT_FDCWD, directory, times, 0) < 0 ? error_set(error, errno, "utimensat '%s'", directory) : 0;
}

static int listener_of(int fd, const char *path, pid_t *pid, struct error *error) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
    return error_set(error, errno, "getsockopt SO_PEERCRED of %s", path);
  *pid = peer.pid;
  return 0;
}

/* Whether a process runs the same file as this one. */
static int check_program(pid_t pid, struct error *error) {
  struct stat own, other;
  autofree char *path = format("/proc/%d/exe", pid);
  if (!path) return error_set(error, ENOMEM, "malloc");
  if (stat("/proc/self/exe", &own) < 0) return error_set(error, errno, "stat '/proc/self/exe'");
  if (stat(path, &other) < 0) return error_set(error, errno, "stat '%s'", path);
  if (own.st_dev == other.st_dev && own.st_ino == other.st_ino) return 0;
  return error_refuse(error, EPERM, "process %d is not the agent", pid);
}

int guest_settle(const char *directory, const struct brought *brought, struct error *error) {
  pid_t pid;
  autofree char *path = format("%s/agent.sock", directory);
  if (!path) return error_set(error, ENOMEM, "malloc");
  autoclose int fd = relay_connect(path, RELAY_WAIT, error);
  if (fd < 0 || listener_of(fd, path, &pid, error) < 0 || check_program(pid, error) < 0) return -1;
  if (forget(brought, error) < 0) return -1;
  autofree char *copy = format("%s/agent", directory);
  if (!copy) return error_set(error, ENOMEM, "malloc");
  if (access(copy, X_OK) == 0)
    printf("%d %s\n", pid, copy);
  else
    printf("%d /proc/%d/exe\n", pid, pid);
  return 0;
}

/* Whether a process runs a program that was brought here, under one of its names. */
static bool runs(pid_t pid, const struct brought *brought) {
  char target[512];
  autofree char *path = format("/proc/%d/exe", pid);
  ssize_t length = path && brought->stale ? readlink(path, target, sizeof target - 1) : -1;
  if (length < 0) return false;
  target[length] = 0;
  return !strncmp(target, brought->stale, strlen(brought->stale));
}

/* Its end of the connection closes when the agent has ended. */
static bool ended(int fd) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  char bytes[4096];
  while (poll(&wait, 1, LEAVE_WAIT_MS) > 0) {
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return true;
  }
  return false;
}

static int end_agent(const char *path, const struct brought *brought, struct error *error) {
  pid_t pid;
  autoclose int fd = relay_connect(path, RELAY_NOW, error);
  if (fd < 0) return error->code == ENOENT || error->code == ECONNREFUSED ? 0 : -1;
  if (listener_of(fd, path, &pid, error) < 0) return -1;
  if (!runs(pid, brought)) return error_refuse(error, EPERM, "process %d listens on %s, not the agent", pid, path);
  if (kill(pid, SIGTERM) < 0 && errno != ESRCH) return error_set(error, errno, "kill %d", pid);
  if (!ended(fd)) kill(pid, SIGKILL);
  return 0;
}

int guest_leave(const char *directory, const struct brought *brought, struct error *error) {
  autofree char *path = format("%s/agent.sock", directory);
  if (!path) return error_set(error, ENOMEM, "malloc");
  int left = end_agent(path, brought, error);
  if (left == 0) left = guest_remove(directory, error);
  struct error other;
  if (forget(brought, left == 0 ? error : &other) < 0) return -1;
  if (left == 0) puts("left");
  return left;
}
