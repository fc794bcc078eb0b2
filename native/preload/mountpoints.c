/* Loaded into CRIU. A dump opens the root of the cell, once for each watched file, and a program that watches the root
 * is told. With O_PATH, nobody is. The kernel takes no such descriptor for the file system of a handle, but it
 * takes the working directory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "raw.h"

/* What CRIU calls the root: relative to /proc/PID, and as a mount point relative to itself. */
static bool is_root(const char *path) { return !strcmp(path, "root") || !strcmp(path, "./"); }

int calm_flags(const char *path, int flags) {
  bool is_only_read = (flags & ~O_DIRECTORY) == O_RDONLY;
  return is_only_read && !restores() && is_root(path) ? O_PATH | O_DIRECTORY : flags;
}

long open_handle(int mount, const void *handle, int flags) {
  long result = raw_syscall(SYS_open_by_handle_at, mount, (long)handle, flags, 0, 0, 0);
  if (result != -EBADF) return result;
  long before = raw_syscall(SYS_openat, AT_FDCWD, (long)".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
  if (before < 0) return before;
  result = raw_syscall(SYS_fchdir, mount, 0, 0, 0, 0, 0);
  if (!result) result = raw_syscall(SYS_open_by_handle_at, AT_FDCWD, (long)handle, flags, 0, 0, 0);
  long back = raw_syscall(SYS_fchdir, before, 0, 0, 0, 0, 0);
  raw_syscall(SYS_close, before, 0, 0, 0, 0, 0);
  if (back < 0 && result >= 0) raw_syscall(SYS_close, result, 0, 0, 0, 0, 0);
  return back < 0 ? back : result;
}
