#define _GNU_SOURCE
#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int serving = -1; /* the starter waits for a byte from here */

static int make_directory(const char *path, struct error *error) {
  if (mkdir(path, 0755) < 0 && errno != EEXIST) return error_set(error, errno, "mkdir '%s'", path);
  return 0;
}

/* A sandbox that has a file of the host open cannot be saved. */
static int let_go_of_standard_fds(struct error *error) {
  int null = open("/dev/null", O_RDWR);
  if (null < 0) return error_set(error, errno, "open '/dev/null'");
  for (int fd = 0; fd <= 2; fd++)
    if (dup2(null, fd) < 0) return error_set(error, errno, "dup2 of '/dev/null' to %d", fd);
  if (null > 2) close(null);
  return 0;
}

__attribute__((noreturn)) static void await(int served) {
  char byte;
  _exit(read(served, &byte, 1) == 1 ? 0 : 1);
}

int detach(const char *directory, struct error *error) {
  int ends[2];
  if (make_directory("/run", error) < 0 || make_directory(directory, error) < 0) return -1;
  if (pipe2(ends, O_CLOEXEC) < 0) return error_set(error, errno, "pipe2");
  pid_t pid = fork();
  if (pid < 0) return error_set(error, errno, "fork");
  if (pid > 0) {
    close(ends[1]);
    await(ends[0]);
  }
  close(ends[0]);
  serving = ends[1];
  setsid();
  return let_go_of_standard_fds(error);
}

void detach_done(void) {
  if (serving < 0) return;
  if (write(serving, "", 1) < 0) _exit(1);
  close(serving);
  serving = -1;
}
