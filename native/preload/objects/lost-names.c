/* Names that a restore makes for files that have lost theirs, and deletes again. Nobody should see them afterwards:
 * neither in the times of the directory, nor as the name of the file, which /proc shows as long as it is open. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "objects.h"
#include "preload/calls.h"
#include "preload/raw.h"

#define EXCHANGE 2      /* RENAME_EXCHANGE */
#define LINK ".cr_link" /* CRIU's, if the name is taken by now */

/* The directory of PATH, to be closed; -1 if there is none. */
static long open_directory(int from, const char *path) {
  char directory[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length >= sizeof directory) return -1;
  memcpy(directory, slash ? path : ".", slash ? length : 1);
  directory[slash ? length : 1] = 0;
  if (slash && !length) memcpy(directory, "/", 2);
  return raw_syscall(SYS_openat, from, (long)directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
}

struct kept_times keep_times(int from, const char *path) {
  struct kept_times kept = {.directory = open_directory(from, path)};
  struct stat before;
  if (kept.directory < 0) return kept;
  if (raw_syscall(SYS_newfstatat, kept.directory, (long)"", (long)&before, AT_EMPTY_PATH, 0, 0)) return kept;
  kept.times[0] = before.st_atim;
  kept.times[1] = before.st_mtim;
  return kept;
}

/* The time of its last change cannot be set. */
void put_times_back(const struct kept_times *kept) {
  if (kept->directory < 0) return;
  if (kept->times[1].tv_sec)
    raw_syscall(SYS_utimensat, kept->directory, (long)"", (long)kept->times, AT_EMPTY_PATH, 0, 0);
  raw_syscall(SYS_close, kept->directory, 0, 0, 0, 0, 0);
}

/* An open file whose name is deleted keeps that name. So it gets the one that it had, and loses it to the file that
 * has it by now. */
long delete_link(int from, const char *path) {
  char name[PATH_MAX];
  size_t length = strlen(path), ending = sizeof LINK - 1;
  if (length > ending && length - ending < sizeof name && !strcmp(path + length - ending, LINK)) {
    snprintf(name, sizeof name, "%.*s", (int)(length - ending), path);
    if (!raw_syscall(SYS_renameat2, from, (long)path, from, (long)name, EXCHANGE, 0))
      return raw_syscall(SYS_renameat2, from, (long)path, from, (long)name, 0, 0);
  }
  return raw_syscall(SYS_unlinkat, from, (long)path, 0, 0, 0, 0);
}

int unlink(const char *path) {
  struct kept_times kept = restores() ? keep_times(AT_FDCWD, path) : (struct kept_times){.directory = -1};
  long result = raw_syscall(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
  put_times_back(&kept);
  return (int)with_errno(result);
}
