/* Gives a cell that an earlier version made what inside.c gives a fresh one: CRIU mounts again what was
 * there when the snapshot was taken, no more. */
#define _GNU_SOURCE
#include "cell.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A cell cannot mount: what it has, it was given. */
static bool lists_mount(pid_t pid, const char *wanted) {
  static char line[16384];
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mountinfo", pid);
  FILE *mounts = fopen(path, "re");
  if (!mounts) die("open", path);
  bool found = false;
  while (!found && fgets(line, sizeof line, mounts)) found = strstr(line, wanted);
  fclose(mounts);
  return found;
}

static void enter_mounts(pid_t pid) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) die("pidfd_open", "cell");
  /* With the ids of the cell, in which the options of mounts are read. */
  if (setns(fd, CLONE_NEWUSER | CLONE_NEWNS)) die("setns", "user and mount namespaces of a cell");
  close(fd);
  if (chdir("/")) die("chdir", "/");
}

static void mask_from_outside(pid_t pid) {
  pid_t child = fork();
  if (child < 0) die("fork", "mask");
  if (child == 0) {
    enter_mounts(pid);
    mask_kernel_interfaces();
    if (mount("devpts", "dev/pts", "devpts", MS_REMOUNT | DEVPTS_FLAGS, DEVPTS_OPTIONS)) die("remount", "/dev/pts");
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child || status) die("mask kernel interfaces of", "a cell");
}

void mask_made_cell(pid_t pid) {
  if (!lists_mount(pid, " /" NEWEST_MASK " ") || !lists_mount(pid, ",max=" MOST_TERMINALS)) mask_from_outside(pid);
}
