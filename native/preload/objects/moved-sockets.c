/* Unix sockets that were renamed, linked or moved since they were bound. A restore binds each of them to its first name
 * again, so that getsockname says the same, and it does so as for a socket whose name was deleted: it puts aside what
 * has that name by now, binds the socket, and deletes the name. Here the socket gets its present names instead of being
 * deleted. The images have them in the directory of the socket, each after two slashes (see
 * src/criu/images/noted/socket-names.ts). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "preload/calls.h"
#include "preload/raw.h"

#define BETWEEN "//"
#define MOST_BYTES 65536

static char names[MOST_BYTES]; /* of the socket that is bound next, in the root of the cell */
static bool is_bound;

/* CRIU goes to the directory of a socket, and elsewhere once it is done with it. */
static void forget_names(void) {
  *names = 0;
  is_bound = false;
}

int chdir(const char *path) {
  char directory[PATH_MAX];
  const char *rest = restores() ? strstr(path, BETWEEN) : NULL;
  forget_names();
  if (!rest) return (int)with_errno(raw_syscall(SYS_chdir, (long)path, 0, 0, 0, 0, 0));
  if ((size_t)(rest - path) >= sizeof directory || strlen(rest) >= sizeof names) return (int)with_errno(-ENAMETOOLONG);
  snprintf(directory, sizeof directory, "%.*s", (int)(rest - path), path);
  snprintf(names, sizeof names, "%s", rest);
  return (int)with_errno(raw_syscall(SYS_chdir, (long)directory, 0, 0, 0, 0, 0));
}

int fchdir(int fd) {
  forget_names();
  return (int)with_errno(raw_syscall(SYS_fchdir, fd, 0, 0, 0, 0, 0));
}

int bind(int fd, const struct sockaddr *address, socklen_t length) {
  long result = raw_syscall(SYS_bind, fd, (long)address, length, 0, 0, 0);
  is_bound = *names && !result;
  return (int)with_errno(result);
}

static bool is_same_file(const char *one, const char *other) {
  struct stat first, second;
  return !lstat(one, &first) && !lstat(other, &second) && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
}

/* Takes the place of the socket in the file system, which leads nowhere any more. CRIU may have deleted that one. */
static long name_socket(const char *bound, const char *name) {
  struct stat old;
  bool is_there = !lstat(name, &old);
  if (is_there && !S_ISSOCK(old.st_mode)) return -EEXIST;
  if (is_there && unlink(name)) return -errno;
  if (link(bound, name)) return -errno;
  struct timespec times[] = {old.st_atim, old.st_mtim};
  return is_there && utimensat(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

/* Gives it all of its names. The one that it was bound to stays if it is among them. */
static long name_everywhere(const char *bound, bool *stays) {
  char name[PATH_MAX];
  for (const char *at = names; *at;) {
    at += strlen(BETWEEN);
    const char *next = strstr(at, BETWEEN);
    size_t length = next ? (size_t)(next - at) : strlen(at);
    if (length + 2 > sizeof name) return -ENAMETOOLONG;
    snprintf(name, sizeof name, "/%.*s", (int)length, at);
    bool is_own = is_same_file(bound, name);
    long failed = is_own ? 0 : name_socket(bound, name);
    if (failed) return failed;
    *stays = *stays || is_own;
    at += length;
  }
  return 0;
}

int unlinkat(int directory, const char *path, int flags) {
  if (is_bound && directory == AT_FDCWD && !flags) {
    bool stays = false;
    long failed = name_everywhere(path, &stays);
    forget_names();
    if (failed || stays) return (int)with_errno(failed);
  }
  if (!restores()) return (int)with_errno(raw_syscall(SYS_unlinkat, directory, (long)path, flags, 0, 0, 0));
  struct kept_times kept = keep_times(directory, path);
  long result = flags ? raw_syscall(SYS_unlinkat, directory, (long)path, flags, 0, 0, 0) : delete_link(directory, path);
  put_times_back(&kept);
  return (int)with_errno(result);
}
