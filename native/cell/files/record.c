/* An entry on stdout is three strings that end with NUL: its facts, its target if it is a symbolic link, and its path
 * from the root. The facts are separated by spaces:
 *
 *   layer type mode uid gid size seconds nanoseconds major minor inode links opaque
 *
 * The type is one of f d l c b p s; or w for a whiteout, in a scan only; or - if nothing is there, without further
 * facts. The mode is octal, without the type. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "view.h"

static char type_of(const struct statx *info) {
  if (is_whiteout(info)) return 'w';
  switch (info->stx_mode & S_IFMT) {
    case S_IFREG: return 'f';
    case S_IFDIR: return 'd';
    case S_IFLNK: return 'l';
    case S_IFCHR: return 'c';
    case S_IFBLK: return 'b';
    case S_IFIFO: return 'p';
    default: return 's';
  }
}

static void put(const char *text) { fwrite(text, 1, strlen(text) + 1, stdout); }

void print_entry(int layer, int directory, const char *name, const struct statx *info, bool opaque, const char *path) {
  char target[PATH_MAX] = "";
  if (S_ISLNK(info->stx_mode)) {
    ssize_t length = readlinkat(directory, name, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = '\0'; /* it has disappeared since, or is no longer a link */
  }
  printf("%d %c %o %u %u %llu %lld %u %u %u %llu %u %d", layer, type_of(info), info->stx_mode & 07777u, info->stx_uid,
         info->stx_gid, (unsigned long long)info->stx_size, (long long)info->stx_mtime.tv_sec, info->stx_mtime.tv_nsec,
         info->stx_rdev_major, info->stx_rdev_minor, (unsigned long long)info->stx_ino, info->stx_nlink, opaque);
  putchar('\0');
  put(target);
  put(path);
}

void print_missing(const char *path) {
  put("-1 -");
  put("");
  put(path);
}
