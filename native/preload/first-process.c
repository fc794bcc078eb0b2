/* Loaded into CRIU. Starts the first restored process as the worker has written down (see cell/criu/restore.c and
 * shared/clone-into.h), and hides the cgroups above its own. The first line of that file is the owner of its user
 * namespace. Each further line is a group to enter and, after a tab, the group to return to. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "raw.h"
#include "shared/clone-into.h"

#define BIRTH "/tmp/birth" /* also in cell/criu/jail.h */

static long raw_clone3(struct clone_args *args, size_t size) {
  return raw_syscall(SYS_clone3, (long)args, (long)size, 0, 0, 0, 0);
}

static struct birth read_birth(char *text, size_t size, struct doorway *groups) {
  struct birth birth = {.groups = groups};
  int fd = open(BIRTH, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = 0;
  char *line = strchr(text, '\n');
  birth.owner = (uid_t)strtoul(text, NULL, 10);
  for (char *end; line && birth.count < MOST_GROUPS && (end = strchr(++line, '\n')); line = end) {
    *end = 0;
    char *tab = strchr(line, '\t');
    if (tab) *tab = 0;
    groups[birth.count++] = (struct doorway){.enter = line, .leave = tab ? tab + 1 : NULL};
  }
  return birth;
}

long clone_cell(const struct clone_args *args, size_t size) {
  char text[16384];
  struct doorway groups[MOST_GROUPS];
  struct birth birth = read_birth(text, sizeof text, groups);
  int is_there;
  long pid = clone_into(&birth, args, size, raw_clone3, &is_there);
  /* For a process that is moved there later, this would show the group that it was in before. */
  if (pid == 0 && is_there) raw_syscall(SYS_unshare, CLONE_NEWCGROUP, 0, 0, 0, 0, 0);
  return pid;
}
