/* Loaded into CRIU. If an open file has lost its name and still has others, a dump gives it a new name beside the lost
 * one, or in the closest directory above that exists. A symbolic link in place of the directory may lead into CRIU's
 * own jail, which is on another file system. That counts as a directory that does not exist. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

int linkat(int from, const char *old_path, int to, const char *new_path, int flags) {
  struct kept_times kept = restores() ? keep_times(to, new_path) : (struct kept_times){.directory = -1};
  long result = raw_syscall(SYS_linkat, from, (long)old_path, to, (long)new_path, flags, 0);
  put_times_back(&kept);
  if (result == -EXDEV && flags & AT_EMPTY_PATH) result = -ENOENT;
  return (int)with_errno(result);
}
