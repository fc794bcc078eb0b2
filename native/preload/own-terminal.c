/* Loaded into CRIU. A terminal that is open as /dev/tty cannot be restored as such: a restored process that does not
 * lead its session has no terminal of its own, and CRIU refuses. It is the terminal /dev/pts/N, so that is what a dump
 * is told: its name, and what it is. */
#define _GNU_SOURCE
#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

#define OWN_TERMINAL makedev(5, 0) /* /dev/tty */
#define PTS_MAJOR 136
#define NAME_SIZE sizeof "dev/pts/4294967295"
#define FDS "/proc/self/fd/"

static int root = -1; /* of the cell */

void note_root(const char *path, int fd) {
  if (root >= 0 || fd < 0 || restores() || strcmp(path, "root")) return;
  root = (int)raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
}

int root_of_cell(void) { return root; }

/* Relative to the root. Returns its length. */
static size_t name_of(unsigned number, char name[NAME_SIZE]) {
  char digits[16];
  size_t count = 0, length = sizeof "dev/pts/" - 1;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  memcpy(name, "dev/pts/", length);
  while (count) name[length++] = digits[--count];
  name[length] = 0;
  return length;
}

/* The terminal that FD is, and its name; false if it is not there by that name. Code inside decides what is there. */
static bool real_terminal(int fd, struct stat *is, char name[NAME_SIZE], size_t *length) {
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  unsigned device = 0;
  if (root < 0 || raw_syscall(SYS_ioctl, fd, TIOCGDEV, (long)&device, 0, 0, 0)) return false;
  if (major(device) != PTS_MAJOR) return false;
  *length = name_of(minor(device), name);
  long there = raw_syscall(SYS_openat2, root, (long)name, (long)&how, sizeof how, 0, 0);
  if (there < 0) return false;
  long failed = raw_syscall(SYS_fstat, there, (long)is, 0, 0, 0, 0);
  raw_syscall(SYS_close, there, 0, 0, 0, 0, 0);
  return !failed && S_ISCHR(is->st_mode) && is->st_rdev == makedev(PTS_MAJOR, minor(device));
}

int fstat64(int fd, struct stat64 *is) {
  struct stat real;
  char name[NAME_SIZE];
  size_t length;
  long result = raw_syscall(SYS_fstat, fd, (long)is, 0, 0, 0, 0);
  if (!result && !restores() && S_ISCHR(is->st_mode) && is->st_rdev == OWN_TERMINAL &&
      real_terminal(fd, &real, name, &length))
    memcpy(is, &real, sizeof real);
  if (!result && !restores()) note_asked(fd, (const struct stat *)is);
  return (int)with_errno(result);
}

/* The descriptor of this process that PATH names; -1 if it names none. */
static int named_fd(const char *path) {
  int fd = 0;
  if (strncmp(path, FDS, sizeof FDS - 1) || !path[sizeof FDS - 1]) return -1;
  for (const char *digit = path + sizeof FDS - 1; *digit; digit++) {
    if (*digit < '0' || *digit > '9' || fd > 1 << 24) return -1;
    fd = fd * 10 + *digit - '0';
  }
  return fd;
}

static bool is_own_terminal(int fd) {
  struct stat is;
  return !raw_syscall(SYS_fstat, fd, (long)&is, 0, 0, 0, 0) && S_ISCHR(is.st_mode) && is.st_rdev == OWN_TERMINAL;
}

ssize_t name_of_own_terminal(const char *path, char *target, size_t size) {
  struct stat is;
  char name[NAME_SIZE];
  size_t length;
  int fd = restores() ? -1 : named_fd(path);
  if (fd < 0 || !is_own_terminal(fd) || !real_terminal(fd, &is, name, &length) || length >= size) return 0;
  target[0] = '/';
  memcpy(target + 1, name, length);
  return (ssize_t)length + 1;
}
