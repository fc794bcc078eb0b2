/* Changing the size of a mounted btrfs. Only free space at its end is given up, which is instant: the kernel would
 * move whatever is in the way. */
#define _GNU_SOURCE
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"

#define DEVICE 1 /* the only one of a volume */
#define SMALLEST (256ULL << 20)
#define ALIGNMENT (1ULL << 20)

/* They come in the order of their places, so that the last one decides. */
static void note_end(const struct btrfs_ioctl_search_header *header, const void *item, void *end) {
  struct btrfs_dev_extent extent = {0};
  memcpy(&extent, item, header->len < sizeof extent ? header->len : sizeof extent);
  *(uint64_t *)end = header->offset + le64toh(extent.length);
}

/* Where the last part of the device ends that the file system has put to use. */
static uint64_t used_end(int fd) {
  uint64_t end = 0;
  struct btrfs_ioctl_search_key key = {.tree_id = BTRFS_DEV_TREE_OBJECTID,
                                       .min_objectid = DEVICE,
                                       .max_objectid = DEVICE,
                                       .min_type = BTRFS_DEV_EXTENT_KEY,
                                       .max_type = BTRFS_DEV_EXTENT_KEY,
                                       .max_offset = UINT64_MAX,
                                       .max_transid = UINT64_MAX};
  each_item(fd, key, note_end, &end);
  return end;
}

/* PATH BYTES: sets the size, or the smallest that is possible at once if that is larger. */
void verb_resize_files(char **words) {
  int fd = open_subvolume(words[0]);
  uint64_t wanted = strtoull(words[1], NULL, 10), least = used_end(fd);
  if (least < SMALLEST) least = SMALLEST;
  uint64_t size = (wanted > least ? wanted : least + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct btrfs_ioctl_vol_args args = {0};
  snprintf(args.name, sizeof args.name, "%d:%llu", DEVICE, (unsigned long long)size);
  if (ioctl(fd, BTRFS_IOC_RESIZE, &args)) die("resize '%s' to %s bytes", words[0], words[1]);
  close(fd);
}
