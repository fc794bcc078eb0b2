/* Loaded into CRIU beside it. For an open file that has lost its name and has others, a dump makes a name
 * beside the lost one, or in the next directory above that is there. If a link has taken the place of the
 * directory, it may lead to a directory of CRIU's own jail, which is on another file system: that is as
 * good as none. */
#define _GNU_SOURCE
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

int linkat(int from, const char *old_path, int to, const char *new_path, int flags) {
  long result = raw_syscall(SYS_linkat, from, (long)old_path, to, (long)new_path, flags, 0);
  if (result == -EXDEV && flags & AT_EMPTY_PATH) result = -ENOENT;
  return (int)told(result);
}
