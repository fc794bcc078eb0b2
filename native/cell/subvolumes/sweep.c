/* The kernel keeps a count for each deleted subvolume as long as somebody refers to what that wrote, and then forgets
 * to remove it. */
#define _GNU_SOURCE
#include <endian.h>
#include <string.h>
#include <sys/ioctl.h>

#include "subvolumes.h"
#include "tree.h"

#define MOST 256 /* at once; the next time removes more */

struct unused {
  uint64_t ids[MOST];
  size_t count;
};

/* A subvolume that exists has written its root at least. */
static void note_unused(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  struct unused *unused = with;
  struct btrfs_qgroup_info_item info;
  if (header->type != BTRFS_QGROUP_INFO_KEY || header->len < sizeof info || unused->count == MOST) return;
  memcpy(&info, item, sizeof info);
  if (!info.rfer && header->offset >= BTRFS_FIRST_FREE_OBJECTID) unused->ids[unused->count++] = header->offset;
}

static void note_root(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  (void)item;
  if (header->type == BTRFS_ROOT_ITEM_KEY) *(bool *)with = true;
}

static bool is_subvolume(int fd, uint64_t id) {
  bool exists = false;
  struct btrfs_ioctl_search_key key = {.tree_id = BTRFS_ROOT_TREE_OBJECTID,
                                       .min_objectid = id,
                                       .max_objectid = id,
                                       .max_type = UINT8_MAX,
                                       .max_offset = UINT64_MAX,
                                       .max_transid = UINT64_MAX};
  each_item(fd, key, note_root, &exists);
  return exists;
}

void remove_unused_counts(int fd) {
  struct unused unused = {.count = 0};
  struct btrfs_ioctl_search_key key = {.tree_id = BTRFS_QUOTA_TREE_OBJECTID,
                                       .min_type = BTRFS_QGROUP_INFO_KEY,
                                       .max_type = BTRFS_QGROUP_INFO_KEY,
                                       .max_offset = UINT64_MAX,
                                       .max_transid = UINT64_MAX};
  each_item(fd, key, note_unused, &unused);
  for (size_t i = 0; i < unused.count; i++) {
    struct btrfs_ioctl_qgroup_create_args args = {.create = 0, .qgroupid = unused.ids[i]};
    /* The kernel refuses if it is in use after all. Nothing depends on it. */
    if (!is_subvolume(fd, args.qgroupid)) ioctl(fd, BTRFS_IOC_QGROUP_CREATE, &args);
  }
}
