/* Names that a sandbox chose, looked up in the root that it will be restored on before CRIU does. No process of the
 * sandbox runs meanwhile, so CRIU will find what is found here. */
#define _GNU_SOURCE
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "stage.h"

enum last { LINK_ITSELF = O_NOFOLLOW, LINK_FOLLOWED = 0 };

/* False with errno if nothing is there. */
static bool look_up(int root, const char *path, uint64_t how_to_resolve, enum last last, struct stat *info) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC | (uint64_t)last, .resolve = how_to_resolve};
  int fd = (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
  if (fd < 0) return false;
  bool found = !fstat(fd, info);
  close(fd);
  return found;
}

static int open_root(const char *path) {
  int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  return fd;
}

__attribute__((noreturn)) static void refuse(const char *path, int error) {
  errno = error;
  die("find inside '%s'", path);
}

#define PLAINLY (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)

/* With a link in one of these places, the mount would land wherever the link leads. */
void require_mountpoints(void) {
  static const char *const places[] = {"dev", "proc", "sys", ENV_SOCKET_DIR};
  int root = open_root("stage/root");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct stat info;
    if (!look_up(root, places[i], PLAINLY, LINK_ITSELF, &info)) refuse(places[i], errno);
    if (!S_ISDIR(info.st_mode)) refuse(places[i], ENOTDIR);
  }
  close(root);
}

/* The kernel recorded this name when it led to the file, without links. If a link is there now, the file was deleted
 * and its directory replaced. CRIU makes what is missing. */
static void check_file(int root, const char *path, bool is_link_itself) {
  struct stat info;
  if (!look_up(root, path, PLAINLY, LINK_ITSELF, &info)) {
    if (errno != ENOENT) refuse(path, errno);
  } else if (S_ISLNK(info.st_mode) && !is_link_itself) {
    refuse(path, ELOOP);
  }
}

/* Whether it is a directory that the kernel's file systems are mounted on. They are not mounted in this root, and
 * links in them may lead anywhere. */
static bool is_kernel_mountpoint(int root, const struct stat *info) {
  static const char *const places[] = {"dev", "proc", "sys"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct stat place;
    if (!look_up(root, places[i], PLAINLY, LINK_ITSELF, &place)) continue;
    if (place.st_dev == info->st_dev && place.st_ino == info->st_ino) return true;
  }
  return false;
}

/* Whether the directory of a socket exists. If it does not, CRIU may have to make it. */
static bool is_found(int root, const char *directory, const char *path, bool may_be_made) {
  struct stat info;
  if (look_up(root, directory, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, LINK_FOLLOWED, &info)) {
    if (is_kernel_mountpoint(root, &info)) refuse(path, EXDEV);
    return true;
  }
  if (errno != ENOENT || !may_be_made) refuse(path, errno);
  /* A dangling link is not harmless: CRIU would follow it once its target exists. */
  if (look_up(root, directory, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, LINK_ITSELF, &info)) refuse(path, ELOOP);
  return false;
}

/* A socket is bound to the name that its program gave, which may go through links, but not leave the root. If it was
 * deleted together with its directory, CRIU makes the directory. */
static void check_socket(int root, const char *path, bool is_deleted) {
  char directory[PATH_MAX];
  if (snprintf(directory, sizeof directory, "/%s", path) >= (int)sizeof directory) refuse(path, ENAMETOOLONG);
  do *strrchr(directory, '/') = 0;
  while (!is_found(root, directory, path, is_deleted));
}

static bool is_below(const char *path, const char *directory, const char **rest) {
  size_t length = strlen(directory);
  if (strncmp(path, directory, length) || path[length] != '/') return false;
  *rest = path + length + 1;
  return true;
}

/* The first letter says what it is: (f)ile, symbolic (l)ink that may be open or watched itself, (s)ocket, or socket
 * whose name was (d)eleted. */
void check_names(const char *names, size_t length) {
  int root = open_root("stage/root"), run = open_root("stage/run");
  for (const char *at = names; at < names + length; at += strlen(at) + 1) {
    const char kind = *at, *path = at + 1;
    while (*path == '/') path++;
    int from = is_below(path, ENV_SOCKET_DIR, &path) ? run : root;
    if (kind == 'f' || kind == 'l')
      check_file(from, path, kind == 'l');
    else
      check_socket(from, path, kind == 'd');
  }
  close(root);
  close(run);
}
