/* Names that a sandbox chose, looked up in the root it will be restored on before CRIU gets to see them.
 * Nothing of it runs meanwhile, so what is found here is what CRIU finds. */
#define _GNU_SOURCE
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum last { LINK_ITSELF = O_NOFOLLOW, LINK_FOLLOWED = 0 };

/* Whether there is something, and what; errno tells why not. */
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
  if (fd < 0) die("open", path);
  return fd;
}

__attribute__((noreturn)) static void refuse(const char *path, int error) {
  errno = error;
  die("find inside", path);
}

#define PLAINLY (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)

/* What is mounted there would otherwise be mounted wherever a link leads. */
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

/* The kernel wrote this name down as it led to the file, without a link in it. If there is one by now, then
 * the file was deleted, and its directory replaced. What is missing, CRIU makes. */
static void check_file(int root, const char *path, bool is_link_itself) {
  struct stat info;
  if (!look_up(root, path, PLAINLY, LINK_ITSELF, &info)) {
    if (errno != ENOENT) refuse(path, errno);
  } else if (S_ISLNK(info.st_mode) && !is_link_itself) {
    refuse(path, ELOOP);
  }
}

/* What the kernel's own file systems are mounted on. Not they themselves are to be seen here, and links in
 * them lead anywhere. */
static bool is_of_the_kernel(int root, const struct stat *info) {
  static const char *const places[] = {"dev", "proc", "sys"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct stat place;
    if (!look_up(root, places[i], PLAINLY, LINK_ITSELF, &place)) continue;
    if (place.st_dev == info->st_dev && place.st_ino == info->st_ino) return true;
  }
  return false;
}

/* Whether the directory of a socket is found; one that is not there may be made in the one above it. */
static bool is_found(int root, const char *directory, const char *path, bool may_be_made) {
  struct stat info;
  if (look_up(root, directory, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, LINK_FOLLOWED, &info)) {
    if (is_of_the_kernel(root, &info)) refuse(path, EXDEV);
    return true;
  }
  if (errno != ENOENT || !may_be_made) refuse(path, errno);
  /* A link to what is not there now would be followed if it were. */
  if (look_up(root, directory, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, LINK_ITSELF, &info)) refuse(path, ELOOP);
  return false;
}

/* A socket is bound by the name that its program gave, which may go through links, but not out. CRIU makes
 * the directory of one that was deleted together with it. */
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

/* Each begins with a letter: a file, a symbolic link that is open itself, a socket, a socket whose name was
 * deleted. */
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
