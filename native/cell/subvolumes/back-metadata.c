/* Giving the metadata of a btrfs real blocks. In a sparse file, the disk below may run out of them. A program that
 * cannot write its data gets an error; a file system that cannot write its metadata stops for good. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"

#define NEEDED (BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_SYSTEM)

struct volume {
  const char *path;
  int file;
};

/* Volumes have one device, and one copy of everything, so that a chunk has one stripe. With too little space, the file
 * gets what there is. */
static void back(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  const struct volume *volume = with;
  struct btrfs_chunk chunk = {0};
  memcpy(&chunk, item, header->len < sizeof chunk ? header->len : sizeof chunk);
  uint64_t type = le64toh(chunk.type);
  if (!(type & NEEDED) || (type & BTRFS_BLOCK_GROUP_DATA)) return;
  off_t at = (off_t)le64toh(chunk.stripe.offset), length = (off_t)le64toh(chunk.length);
  if (fallocate(volume->file, FALLOC_FL_KEEP_SIZE, at, length) && errno != ENOSPC && errno != EOPNOTSUPP)
    die("fallocate '%s'", volume->path);
}

/* PATH FILE: where it is mounted, and what it is in */
void verb_back_metadata(char **words) {
  int fd = open_subvolume(words[0]);
  struct volume volume = {.path = words[1], .file = open(words[1], O_WRONLY | O_CLOEXEC)};
  if (volume.file < 0) die("open '%s'", words[1]);
  struct btrfs_ioctl_search_key key = {.tree_id = BTRFS_CHUNK_TREE_OBJECTID,
                                       .min_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
                                       .max_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
                                       .min_type = BTRFS_CHUNK_ITEM_KEY,
                                       .max_type = BTRFS_CHUNK_ITEM_KEY,
                                       .max_offset = UINT64_MAX,
                                       .max_transid = UINT64_MAX};
  each_item(fd, key, back, &volume);
  close(volume.file);
  close(fd);
}
