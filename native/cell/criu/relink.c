/* Makes, removes and looks up names inside a cell from outside, through the cell's own mounts, so that OverlayFS
 * counts them correctly. The names come on stdin, and each ends with NUL. PID is the cell's first process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "criu.h"
#include "report.h"
#include "shared/owned.h"
#include "view.h"

/* The cell's root as its first process sees it. */
static int open_root(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/root", pid);
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  return fd;
}

/* The directory that PATH is in, and the name it has there. -1 with errno. */
static int resolve_parent(int root, char *path, const char **name, uint64_t how_to_resolve) {
  char *slash = strrchr(path, '/');
  if (!slash || !slash[1]) die_because("'%s' is not a path inside a cell", path);
  *slash = 0;
  *name = slash + 1;
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = how_to_resolve};
  return (int)syscall(SYS_openat2, root, *path ? path : "/", &how, sizeof how);
}

/* Symbolic links cannot lead out of the root. */
static int open_parent(int root, char *path, const char **name) {
  int fd = resolve_parent(root, path, name, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  if (fd < 0) die("openat2 '%s'", path);
  return fd;
}

/* Refuses symbolic links. -1 with errno. */
static int open_plain_parent(int root, char *path, const char **name) {
  return resolve_parent(root, path, name, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

/* Names come in pairs: a path below /proc that leads to an open file, and the name to give to that file. */
void verb_relink(char **words) {
  autoclose int root = open_root(parse_pid(words[0]));
  for (char *path; (path = next_path());) {
    const char *last, *name;
    autoclose int from = open_parent(root, path, &last);
    autofree char *file = require_memory(strdup(last)); /* the next path takes its place */
    if (!(path = next_path())) die_because("no name was given for '%s'", file);
    autoclose int to = open_parent(root, path, &name);
    if (linkat(from, file, to, name, AT_SYMLINK_FOLLOW) && errno != EEXIST) die("linkat '%s' as '%s'", file, name);
  }
}

void verb_unlink(char **words) {
  autoclose int root = open_root(parse_pid(words[0]));
  for (char *path; (path = next_path());) {
    const char *name;
    autoclose int parent = resolve_parent(root, path, &name, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    if (parent < 0) continue; /* without its directory, the name is gone too */
    if (unlinkat(parent, name, 0) && errno != ENOENT) die("unlinkat '%s'", name);
  }
}

/* What is at a path: (f)ree or (t)aken, in a directory that no symbolic link leads to; (g)one, if the directory is;
 * (l)ink, if one leads there, or if something on the way is not a directory. */
static char judge(int root, char *path) {
  const char *name;
  autoclose int parent = open_plain_parent(root, path, &name);
  if (parent < 0) return errno == ENOENT ? 'g' : 'l';
  struct stat info;
  return fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) ? 'f' : 't';
}

void verb_names(char **words) {
  autoclose int root = open_root(parse_pid(words[0]));
  for (char *path; (path = next_path());) putchar(judge(root, path));
}
