/* How much a subvolume has written since another one was copied from it, or in all. Reads only the parts of its tree
 * that are newer. */
#define _GNU_SOURCE
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"

struct written {
  uint64_t since, sum;
};

/* The transaction that made this snapshot: whatever its source wrote later has a higher number. */
static uint64_t made_in(const char *path) {
  int fd = open_subvolume(path);
  struct btrfs_ioctl_get_subvol_info_args info = subvolume_info(fd, path);
  close(fd);
  return info.otransid;
}

static uint64_t bytes_of(const struct btrfs_file_extent_item *extent, uint64_t since) {
  if (le64toh(extent->generation) <= since) return 0;
  if (extent->type == BTRFS_FILE_EXTENT_INLINE) return le64toh(extent->ram_bytes);
  return extent->disk_bytenr ? le64toh(extent->num_bytes) : 0; /* zero: a hole */
}

static void add_bytes(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  struct written *written = with;
  struct btrfs_file_extent_item extent = {0};
  if (header->type != BTRFS_EXTENT_DATA_KEY) return;
  memcpy(&extent, item, header->len < sizeof extent ? header->len : sizeof extent);
  written->sum += bytes_of(&extent, written->since);
}

/* What is still in memory has no place on disk yet, and would not be counted. */
static void flush_live(const char *path) {
  uint64_t flags;
  int fd = open_subvolume(path);
  if (ioctl(fd, BTRFS_IOC_SUBVOL_GETFLAGS, &flags)) die("get the flags of the subvolume '%s'", path);
  if (!(flags & BTRFS_SUBVOL_RDONLY) && syncfs(fd)) die("syncfs '%s'", path);
  close(fd);
}

/* PATH [SINCE] */
void verb_subvolume_written(char **words) {
  flush_live(words[0]);
  struct written written = {.since = words[1] ? made_in(words[1]) : 0};
  int fd = open_subvolume(words[0]);
  struct btrfs_ioctl_search_key key = {.min_objectid = BTRFS_FIRST_FREE_OBJECTID,
                                       .max_objectid = BTRFS_LAST_FREE_OBJECTID,
                                       .max_offset = UINT64_MAX,
                                       .min_transid = written.since + 1,
                                       .max_transid = UINT64_MAX,
                                       .min_type = BTRFS_EXTENT_DATA_KEY,
                                       .max_type = BTRFS_EXTENT_DATA_KEY};
  each_item(fd, key, add_bytes, &written);
  close(fd);
  printf("%llu\n", (unsigned long long)written.sum);
}
