/* Names inside a cell, made and removed from outside through the cell's own mounts, so that
 * OverlayFS keeps count of them. */
#define _GNU_SOURCE
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The cell's root as its first process sees it. */
static int open_root(const char *pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/root", atoi(pid));
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) die("open", path);
  return fd;
}

/* The directory that `path` lies in, and what it is called there. No symbolic link leads out. */
static int open_parent(int root, char *path, const char **name) {
  char *slash = strrchr(path, '/');
  if (!slash || !slash[1]) die_usage("not a path inside", path);
  *slash = 0;
  *name = slash + 1;
  struct open_how how = {
      .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
  };
  int fd = (int)syscall(SYS_openat2, root, *path ? path : "/", &how, sizeof how);
  if (fd < 0) die("openat2", path);
  return fd;
}

void relink(const char *pid, char **pairs) {
  int root = open_root(pid);
  for (; pairs[0] && pairs[1]; pairs += 2) {
    const char *holder, *name;
    int from = open_parent(root, pairs[0], &holder), to = open_parent(root, pairs[1], &name);
    if (linkat(from, holder, to, name, AT_SYMLINK_FOLLOW) && errno != EEXIST) die("linkat", name);
    close(from);
    close(to);
  }
  close(root);
}

void unlink_inside(const char *pid, char **paths) {
  int root = open_root(pid);
  for (; *paths; paths++) {
    const char *name;
    int parent = open_parent(root, *paths, &name);
    if (unlinkat(parent, name, 0) && errno != ENOENT) die("unlinkat", name);
    close(parent);
  }
  close(root);
}
