/* Gives a cell that an earlier version made the masks that inside.c gives a new one: CRIU restores the mounts that
 * the snapshot had, and no others. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inside.h"
#include "report.h"
#include "walls.h"

/* The list can be trusted: a process in a cell cannot mount. */
static bool lists_mount(pid_t pid, const char *wanted) {
  static char line[16384];
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mountinfo", pid);
  FILE *mounts = fopen(path, "re");
  if (!mounts) die("open '%s'", path);
  bool found = false;
  while (!found && fgets(line, sizeof line, mounts)) found = strstr(line, wanted);
  fclose(mounts);
  return found;
}

static void enter_mounts(pid_t pid) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) die("pidfd_open %d", pid);
  /* The user namespace as well: mount options have the cell's ids. */
  if (setns(fd, CLONE_NEWUSER | CLONE_NEWNS)) die("setns to the user and mount namespaces of pid %d", pid);
  close(fd);
  if (chdir("/")) die("chdir '/'");
}

/* In a child, because nobody can leave a user namespace again. */
static void mask_from_outside(pid_t pid) {
  pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    enter_mounts(pid);
    mask_kernel_interfaces();
    if (mount("devpts", "dev/pts", "devpts", MS_REMOUNT | DEVPTS_FLAGS, DEVPTS_OPTIONS)) die("remount '/dev/pts'");
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child) die("waitpid %d", child);
  if (status) _exit(1); /* the child has said why */
}

void mask_made_cell(pid_t pid) {
  if (!lists_mount(pid, " /" NEWEST_MASK " ") || !lists_mount(pid, ",max=" MOST_TERMINALS)) mask_from_outside(pid);
}

void verb_mask(char **words) { mask_made_cell(parse_pid(words[0])); }
