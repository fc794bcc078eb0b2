/* Names inside a cell, made, removed and looked at from outside through the cell's own mounts, so that
 * OverlayFS keeps count of them. They come on stdin, each with a NUL at its end. */
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* The directory that `path` lies in, and what it is called there. */
static int resolve_parent(int root, char *path, const char **name, uint64_t how_to_resolve) {
  char *slash = strrchr(path, '/');
  if (!slash || !slash[1]) die_usage("not a path inside", path);
  *slash = 0;
  *name = slash + 1;
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = how_to_resolve};
  return (int)syscall(SYS_openat2, root, *path ? path : "/", &how, sizeof how);
}

/* No symbolic link leads out. */
static int open_parent(int root, char *path, const char **name) {
  int fd = resolve_parent(root, path, name, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  if (fd < 0) die("openat2", path);
  return fd;
}

/* There is no symbolic link; -1 with errno. */
static int open_plain_parent(int root, char *path, const char **name) {
  return resolve_parent(root, path, name, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

void relink(const char *pid) {
  int root = open_root(pid);
  for (char *path; (path = next_path());) {
    const char *holder, *name;
    int from = open_parent(root, path, &holder);
    char *held = strdup(holder);
    if (!held || !(path = next_path())) die_usage("needs a name for", holder);
    int to = open_parent(root, path, &name);
    if (linkat(from, held, to, name, AT_SYMLINK_FOLLOW) && errno != EEXIST) die("linkat", name);
    free(held);
    close(from);
    close(to);
  }
  close(root);
}

void unlink_inside(const char *pid) {
  int root = open_root(pid);
  for (char *path; (path = next_path());) {
    const char *name;
    int parent = resolve_parent(root, path, &name, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    if (parent < 0) continue; /* then it is not there either */
    if (unlinkat(parent, name, 0) && errno != ENOENT) die("unlinkat", name);
    close(parent);
  }
  close(root);
}

/* What there is at a path, as a letter. */
static char judge(int root, char *path) {
  const char *name;
  int parent = open_plain_parent(root, path, &name);
  if (parent < 0) return errno == ENOENT ? 'g' : 'l';
  struct stat info;
  bool is_taken = !fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW);
  close(parent);
  return is_taken ? 't' : 'f';
}

void judge_names(const char *pid) {
  int root = open_root(pid);
  for (char *path; (path = next_path());) putchar(judge(root, path));
  close(root);
  finish_output();
}
