/* Reading the tree of a subvolume, item by item. */
#define _GNU_SOURCE
#include "tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"

#define SPACE (256 * 1024)

int open_subvolume(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  return fd;
}

struct btrfs_ioctl_get_subvol_info_args subvolume_info(int fd, const char *path) {
  struct btrfs_ioctl_get_subvol_info_args info;
  if (ioctl(fd, BTRFS_IOC_GET_SUBVOL_INFO, &info) < 0) die("get the id of the subvolume '%s'", path);
  return info;
}

/* The lowest key after this one. False if there is none. */
static bool go_past(struct btrfs_ioctl_search_key *key, const struct btrfs_ioctl_search_header *last) {
  key->min_objectid = last->objectid;
  key->min_type = last->type;
  key->min_offset = last->offset + 1;
  if (key->min_offset) return true;
  if (++key->min_type <= UINT8_MAX) return true;
  key->min_type = 0;
  return ++key->min_objectid;
}

static void visit_all(const struct btrfs_ioctl_search_args_v2 *found, struct btrfs_ioctl_search_header *last,
                      void (*visit)(const struct btrfs_ioctl_search_header *, const void *, void *), void *with) {
  const char *at = (const char *)found->buf;
  for (uint32_t i = 0; i < found->key.nr_items; i++) {
    memcpy(last, at, sizeof *last);
    at += sizeof *last;
    visit(last, at, with);
    at += last->len;
  }
}

void each_item(int fd, struct btrfs_ioctl_search_key key,
               void (*visit)(const struct btrfs_ioctl_search_header *, const void *, void *), void *with) {
  struct btrfs_ioctl_search_args_v2 *search = require_memory(calloc(1, sizeof *search + SPACE));
  struct btrfs_ioctl_search_header last;
  do {
    search->key = key;
    search->key.nr_items = UINT32_MAX;
    search->buf_size = SPACE;
    if (ioctl(fd, BTRFS_IOC_TREE_SEARCH_V2, search)) die("search tree %llu", (unsigned long long)key.tree_id);
    if (!search->key.nr_items) break;
    visit_all(search, &last, visit, with);
  } while (go_past(&key, &last));
  free(search);
}
