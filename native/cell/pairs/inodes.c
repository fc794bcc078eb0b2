/* The inode numbers of an environment. With `xino=on`, those of lower files have the number of their file system in
 * their highest bits, and others are those of the upper's subvolume. */
#define _GNU_SOURCE
#include <linux/btrfs_tree.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pairs.h"
#include "report.h"
#include "tree.h"

#define FILE_SYSTEM_BITS 60 /* OverlayFS puts its number above these, as high as it can; these are enough for 16 */
#define NUMBER_BITS 40      /* no file system that we know has numbers as high as this */

static bool is_lower(uint64_t number) {
  uint64_t of_file_system = number & ((1ULL << FILE_SYSTEM_BITS) - 1);
  return number >> FILE_SYSTEM_BITS && of_file_system && !(of_file_system >> NUMBER_BITS);
}

static void add_inode(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  struct inodes *inodes = with;
  (void)item;
  if (header->type != BTRFS_INODE_ITEM_KEY) return;
  if (!(inodes->count & (inodes->count - 1)))
    inodes->list =
        require_memory(realloc(inodes->list, (inodes->count ? 2 * inodes->count : 1) * sizeof *inodes->list));
  inodes->list[inodes->count++] = header->objectid;
}

/* In the order of the tree, which is that of the numbers. */
static void list_inodes(struct inodes *inodes) {
  int fd = open_subvolume(inodes->subvolume);
  struct btrfs_ioctl_search_key key = {.min_objectid = BTRFS_FIRST_FREE_OBJECTID,
                                       .max_objectid = BTRFS_LAST_FREE_OBJECTID,
                                       .max_offset = UINT64_MAX,
                                       .max_transid = UINT64_MAX,
                                       .min_type = BTRFS_INODE_ITEM_KEY,
                                       .max_type = BTRFS_INODE_ITEM_KEY};
  each_item(fd, key, add_inode, inodes);
  close(fd);
}

static int compare(const void *a, const void *b) {
  const uint64_t *one = a, *other = b;
  return (*one > *other) - (*one < *other);
}

bool is_inode(struct inodes *inodes, uint64_t number) {
  if (is_lower(number)) return true;
  if (inodes->is_weak || number < BTRFS_FIRST_FREE_OBJECTID || number >> NUMBER_BITS) return false;
  if (!inodes->count) list_inodes(inodes);
  return bsearch(&number, inodes->list, inodes->count, sizeof number, compare);
}
