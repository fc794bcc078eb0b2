#define _GNU_SOURCE
#include "clone-into.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNCHANGED (-1)

/* Moves this thread: 0 stands for the thread that writes it. */
static int go_to(const char *tasks) {
  int fd = open(tasks, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  int went = write(fd, "0", 1) == 1;
  close(fd);
  return went;
}

static void go_back(const struct doorway *groups, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (groups[i].leave) go_to(groups[i].leave);
}

/* Returns how many groups were entered. That of v2 is only opened. */
static size_t enter(const struct doorway *groups, size_t count, int *unified) {
  for (size_t i = 0; i < count; i++) {
    if (groups[i].leave) {
      if (!go_to(groups[i].enter)) return i;
    } else if ((*unified = open(groups[i].enter, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
      return i;
    }
  }
  return count;
}

/* The owner of a namespace is the effective user who makes it. The file system user stays root, also in the child,
 * until the child takes its own ids. */
static long clone_as(uid_t owner, struct clone_args *args, size_t size, clone_call *clone3) {
  if (syscall(SYS_setresuid, UNCHANGED, owner, UNCHANGED)) return -1;
  syscall(SYS_setfsuid, 0);
  long pid = clone3(args, size);
  if (pid != 0) syscall(SYS_setresuid, UNCHANGED, 0, UNCHANGED);
  return pid;
}

long clone_into(const struct birth *birth, const struct clone_args *args, size_t size, clone_call *clone3,
                int *is_there) {
  struct clone_args wider = {0}, plain = {0};
  if (size > sizeof plain) size = sizeof plain;
  memcpy(&plain, args, size);
  wider = plain;
  int unified = -1;
  size_t entered = enter(birth->groups, birth->count, &unified);
  if (unified >= 0) {
    wider.flags |= CLONE_INTO_CGROUP;
    wider.cgroup = (__u64)unified;
  }
  *is_there = 1;
  long pid = entered == birth->count ? clone_as(birth->owner, &wider, sizeof wider, clone3) : -1;
  if (pid != 0) go_back(birth->groups, entered);
  if (unified >= 0) close(unified);
  if (pid >= 0) return pid;
  *is_there = 0;
  return clone_as(birth->owner, &plain, size, clone3);
}
