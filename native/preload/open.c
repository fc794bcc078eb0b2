/* Loaded into CRIU. Replaces the C library's function that opens files. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "raw.h"

int openat64(int directory, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  long mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, unsigned) : 0;
  va_end(list);
  long listing = strcmp(path, "smaps") ? -1 : open_listing(directory);
  if (listing >= 0) return (int)listing;
  flags = calm_flags(path, flags) | O_LARGEFILE;
  return (int)with_errno(raw_syscall(SYS_openat, directory, (long)path, flags, mode, 0, 0));
}
