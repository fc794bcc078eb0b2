/* Loaded into CRIU. Replaces the C library's function that opens files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

/* Makes a file during a restore, which nobody shall see by the times of its directory. */
static long make_file(int directory, const char *path, int flags, long mode) {
  struct kept_times kept = keep_times(directory, path);
  long fd = raw_syscall(SYS_openat, directory, (long)path, flags | O_LARGEFILE, mode, 0, 0);
  put_times_back(&kept);
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  long mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, unsigned) : 0;
  va_end(list);
  if (flags & O_CREAT && restores()) return (int)with_errno(make_file(AT_FDCWD, path, flags, mode));
  return (int)with_errno(raw_syscall(SYS_openat, AT_FDCWD, (long)path, flags | O_LARGEFILE, mode, 0, 0));
}

int creat64(const char *path, mode_t mode) { return open64(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

int openat64(int directory, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  long mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, unsigned) : 0;
  va_end(list);
  long queue = restores() ? open_queue(path, flags) : -ENOTSUP;
  if (queue != -ENOTSUP) return (int)with_errno(queue);
  if (flags & O_CREAT && restores()) return (int)with_errno(make_file(directory, path, flags, mode));
  long listing = strcmp(path, "smaps") ? -1 : open_listing(directory);
  if (listing >= 0) return (int)listing;
  if (flags & O_CREAT && !restores()) note_images(directory);
  flags = watched_flags(directory, calm_flags(path, flags)) | O_LARGEFILE;
  long fd = raw_syscall(SYS_openat, directory, (long)path, flags, mode, 0, 0);
  if (fd >= 0 && !strncmp(path, "fdinfo/", 7)) note_description(directory, restores() ? -1 : (int)fd);
  if (fd >= 0 && !strcmp(path, "smaps") && !restores()) note_areas((int)fd, directory);
  note_root(path, (int)fd);
  return (int)with_errno(fd);
}
