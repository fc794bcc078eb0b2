#define _GNU_SOURCE
#include "call-pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

static char directory[100];

void call_pipe_init(const char *socket) {
  const char *slash = strrchr(socket, '/');
  snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - socket) : 1, slash ? socket : ".");
}

/* The kernel shows the agent's descriptors only to its own user. */
static bool sees_descriptors(const struct user *user) { return user->uid == getuid(); }

void call_pipe_path(const struct user *user, int fd, char path[CALL_PIPE_PATH]) {
  if (sees_descriptors(user))
    snprintf(path, CALL_PIPE_PATH, "/proc/%d/fd/%d", getpid(), fd);
  else
    snprintf(path, CALL_PIPE_PATH, "%s/pipe-%d", directory, fd);
}

/* Its path has the number of the end that bash opens, which no other pipe has while this one is open. */
static int open_fifo(const struct user *user, enum pipe_end theirs, int ends[2]) {
  char made[CALL_PIPE_PATH], path[CALL_PIPE_PATH];
  autoclose int reader = -1, writer = -1;
  snprintf(made, sizeof made, "%s/pipe-new", directory);
  if (unlink(made) < 0 && errno != ENOENT) return -1;
  if (mkfifo(made, 0600) < 0) return -1;
  reader = open(made, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  writer = open(made, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (reader < 0 || writer < 0 || fchown(reader, user->uid, user->gid) < 0) return -1;
  call_pipe_path(user, theirs == END_READER ? reader : writer, path);
  if (rename(made, path) < 0) return -1;
  ends[0] = take_fd(&reader);
  ends[1] = take_fd(&writer);
  return 0;
}

int call_pipe_open(const struct user *user, enum pipe_end theirs, int ends[2]) {
  if (sees_descriptors(user)) return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
  return open_fifo(user, theirs, ends);
}

void call_pipe_close(const struct user *user, int *fd) {
  char path[CALL_PIPE_PATH];
  if (*fd >= 0 && !sees_descriptors(user)) {
    call_pipe_path(user, *fd, path);
    unlink(path);
  }
  close_fd(fd);
}
