/* Copies of snapshots that are made before anybody needs them. Making one waits for the disk, taking one does not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"

#define SUFFIX ".ahead" /* also in src/backends/native/overlay/subvolumes/ahead.ts */

bool take_ahead(const char *from, const char *path) {
  char ahead[PATH_MAX];
  snprintf(ahead, sizeof ahead, "%s" SUFFIX, from);
  if (!rename(ahead, path)) return true;
  if (errno != ENOENT) die("rename '%s' to '%s'", ahead, path);
  return false;
}

/* FROM: makes its copy, unless there is one. Whoever deletes FROM deletes it first and its copies afterwards, so one of
 * us sees what the other has done. */
void verb_subvolume_ahead(char **words) {
  const char *from = words[0];
  char ahead[PATH_MAX], draft[PATH_MAX];
  snprintf(ahead, sizeof ahead, "%s" SUFFIX, from);
  snprintf(draft, sizeof draft, "%s.%d", from, getpid());
  if (!access(ahead, F_OK)) return;
  take_snapshot(from, draft, 0);
  prepare_clone(draft);
  bool is_first = !renameat2(AT_FDCWD, draft, AT_FDCWD, ahead, RENAME_NOREPLACE);
  if (!is_first && errno != EEXIST) die("rename '%s' to '%s'", draft, ahead);
  if (!is_first) delete_subvolume(draft);
  if (access(from, F_OK)) delete_subvolume(ahead);
}
