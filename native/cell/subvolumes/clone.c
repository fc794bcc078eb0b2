/* The metadata of an overlay in a copy of its upper and work directories.
 *
 * OverlayFS keeps handles of directories in extended attributes of its index. A handle names the subvolume, so the copy
 * gets its own id there; a stale handle makes lookups fail. The work directory also has a mark that a volatile mount
 * used it, which the next mount refuses, and remains of operations that were under way. */
#define _GNU_SOURCE
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"

#define HANDLE "trusted.overlay.upper"
#define HEADER 5                       /* version, magic number, length, flags, type of the handle */
#define TYPE_AT 4                      /* in the header */
#define BTRFS_HANDLE 0x4d              /* without a parent: inode, subvolume, generation */
#define SUBVOLUME_AT (HEADER + 16 + 8) /* after the uuid and the inode */
#define HANDLE_SIZE (HEADER + 16 + 20)

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at) {
  (void)info, (void)type, (void)at;
  return remove(path);
}

bool clear_work(const char *path) {
  char work[PATH_MAX];
  snprintf(work, sizeof work, "%s/work/work", path);
  return !nftw(work, remove_one, 64, FTW_PHYS | FTW_DEPTH | FTW_MOUNT) || errno == ENOENT;
}

static uint64_t subvolume_id(const char *path) {
  int fd = open_subvolume(path);
  uint64_t id = subvolume_info(fd, path).treeid;
  close(fd);
  return id;
}

/* Leaves alone what has no handle: the index of a file is the file itself. */
static void set_subvolume(const char *path, uint64_t id) {
  unsigned char handle[256];
  ssize_t size = lgetxattr(path, HANDLE, handle, sizeof handle);
  if (size < 0 && errno == ENODATA) return;
  if (size < 0) die("lgetxattr '%s'", path);
  if (size != HANDLE_SIZE || handle[TYPE_AT] != BTRFS_HANDLE) die_because("'%s' has an unknown kind of handle", path);
  uint64_t little = htole64(id);
  if (!memcmp(handle + SUBVOLUME_AT, &little, sizeof little)) return;
  memcpy(handle + SUBVOLUME_AT, &little, sizeof little);
  if (lsetxattr(path, HANDLE, handle, (size_t)size, XATTR_REPLACE)) die("lsetxattr '%s'", path);
}

static void adopt_index(const char *index, uint64_t id) {
  char path[PATH_MAX + NAME_MAX + 2];
  DIR *entries = opendir(index);
  if (!entries && errno == ENOENT) return;
  if (!entries) die("opendir '%s'", index);
  set_subvolume(index, id);
  for (struct dirent *entry; (entry = readdir(entries));) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", index, entry->d_name);
    set_subvolume(path, id);
  }
  closedir(entries);
}

void prepare_clone(const char *path) {
  char inside[PATH_MAX];
  if (!clear_work(path)) die("clear the work directory of '%s'", path);
  snprintf(inside, sizeof inside, "%s/work/index", path);
  adopt_index(inside, subvolume_id(path));
}
