/* A limit on the space that the files of a subvolume take, by simple quotas.
 *
 * They count each block for the subvolume that wrote it, for as long as anybody refers to it. So a copy begins with
 * nothing, although it has files; and what the original deletes still counts while a snapshot holds it. What a user
 * means is the space of the files that it has now. So the limit in the kernel is what it counts, plus the room that is
 * left. It must be set again after the deletion of files that a snapshot still holds, or of a snapshot that held
 * deleted files. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"

#define ENABLE_SIMPLE_QUOTA 4                /* BTRFS_QUOTA_CTL_ENABLE_SIMPLE_QUOTA, which older headers lack */
#define ITEM_HEADER 25                       /* of each item in a leaf, besides its content */
#define METADATA_OF_ITEMS(n) ((n) + (n) / 2) /* leaves are two thirds full (measured on an unpacked kernel source) */
#define MEASURE_TRIES 4

struct extent {
  uint64_t at, bytes;
};

/* What a subvolume refers to since the transaction UNTIL or longer. */
struct held {
  uint64_t until;
  struct extent *extents;
  size_t count, capacity;
  uint64_t items;  /* bytes */
  uint64_t newest; /* the transaction of its last change */
};

static void add_extent(struct held *held, struct extent extent) {
  if (held->count == held->capacity) {
    held->capacity = held->capacity ? 2 * held->capacity : 4096;
    held->extents = require_memory(reallocarray(held->extents, held->capacity, sizeof *held->extents));
  }
  held->extents[held->count++] = extent;
}

static void add_item(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  struct held *held = with;
  held->items += ITEM_HEADER + header->len;
  if (header->transid > held->newest) held->newest = header->transid;
  if (header->type != BTRFS_EXTENT_DATA_KEY) return;
  struct btrfs_file_extent_item extent = {0};
  memcpy(&extent, item, header->len < sizeof extent ? header->len : sizeof extent);
  if (extent.type == BTRFS_FILE_EXTENT_INLINE || !extent.disk_bytenr) return; /* in the item, or a hole */
  if (le64toh(extent.generation) > held->until) return;
  add_extent(held, (struct extent){le64toh(extent.disk_bytenr), le64toh(extent.disk_num_bytes)});
}

static int by_place(const void *a, const void *b) {
  const struct extent *one = a, *other = b;
  return one->at < other->at ? -1 : one->at > other->at;
}

/* Files may share extents, and a file may refer to parts of one: each counts once, as a whole. */
static uint64_t space_of(struct held *held) {
  uint64_t sum = METADATA_OF_ITEMS(held->items);
  if (held->count) qsort(held->extents, held->count, sizeof *held->extents, by_place);
  for (size_t i = 0; i < held->count; i++)
    if (!i || held->extents[i].at != held->extents[i - 1].at) sum += held->extents[i].bytes;
  return sum;
}

struct use {
  uint64_t bytes, newest;
};

static struct use used_space(int fd, uint64_t until) {
  struct held held = {.until = until};
  struct btrfs_ioctl_search_key key = {
      .max_objectid = UINT64_MAX, .max_offset = UINT64_MAX, .max_transid = UINT64_MAX, .max_type = UINT8_MAX};
  each_item(fd, key, add_item, &held);
  struct use use = {space_of(&held), held.newest};
  free(held.extents);
  return use;
}

static void read_count(const struct btrfs_ioctl_search_header *header, const void *item, void *with) {
  struct btrfs_qgroup_info_item info;
  if (header->type != BTRFS_QGROUP_INFO_KEY || header->len < sizeof info) return;
  memcpy(&info, item, sizeof info);
  *(uint64_t *)with = le64toh(info.rfer);
}

static uint64_t counted_bytes(int fd, uint64_t id) {
  uint64_t bytes = 0;
  struct btrfs_ioctl_search_key key = {.tree_id = BTRFS_QUOTA_TREE_OBJECTID,
                                       .min_type = BTRFS_QGROUP_INFO_KEY,
                                       .max_type = BTRFS_QGROUP_INFO_KEY,
                                       .min_offset = id,
                                       .max_offset = id,
                                       .max_transid = UINT64_MAX};
  each_item(fd, key, read_count, &bytes);
  return bytes;
}

/* A subvolume, and the directory that it is in: the kernel charges what it takes to change a limit to the subvolume of
 * the descriptor, which may have nothing left. */
struct place {
  const char *path;
  int fd, parent;
  uint64_t id;
};

static struct place open_place(const char *path) {
  int fd = open_subvolume(path);
  return (struct place){path, fd, open_parent(path), subvolume_info(fd, path).treeid};
}

/* Where the kernel shows what it counts for a subvolume. */
static void print_counter(const struct place *place) {
  struct btrfs_ioctl_fs_info_args info = {0};
  if (ioctl(place->fd, BTRFS_IOC_FS_INFO, &info)) die("get the id of the file system of '%s'", place->path);
  printf(" /sys/fs/btrfs/");
  for (size_t i = 0; i < sizeof info.fsid; i++)
    printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info.fsid[i]);
  printf("/qgroups/0_%llu\n", (unsigned long long)place->id);
}

static int limit_count(const struct place *place, struct btrfs_qgroup_limit limit) {
  struct btrfs_ioctl_qgroup_limit_args args = {.qgroupid = place->id, .lim = limit};
  return ioctl(place->parent, BTRFS_IOC_QGROUP_LIMIT, &args);
}

/* Once for each file system; it remembers. */
static void enable_quotas(const struct place *place) {
  struct btrfs_ioctl_quota_ctl_args args = {.cmd = ENABLE_SIMPLE_QUOTA};
  if (!limit_count(place, (struct btrfs_qgroup_limit){0})) return;
  if (errno != ENOTCONN) die("limit the subvolume '%s'", place->path);
  if (ioctl(place->parent, BTRFS_IOC_QUOTA_CTL, &args)) die("enable simple quotas for '%s'", place->path);
}

/* The kernel counts what was written or deleted when it ends a transaction. Returns which one that was. */
static uint64_t end_transaction(const struct place *place) {
  uint64_t transaction;
  if (ioctl(place->parent, BTRFS_IOC_START_SYNC, &transaction) ||
      ioctl(place->parent, BTRFS_IOC_WAIT_SYNC, &transaction))
    die("end a transaction of '%s'", place->path);
  return transaction;
}

struct measure {
  uint64_t counted, used;
};

/* Both of the same moment, unless somebody deletes files all the time: then there is too much room until the limit is
 * set again, which is soon, because the count falls. */
static struct measure measure(const struct place *place) {
  for (int tries = 1;; tries++) {
    uint64_t ended = end_transaction(place), counted = counted_bytes(place->fd, place->id);
    struct use use = used_space(place->fd, ended);
    if (use.newest <= ended || tries == MEASURE_TRIES) return (struct measure){counted, use.bytes};
  }
}

static uint64_t room_for(uint64_t limit, uint64_t used, uint64_t least) {
  uint64_t room = used < limit ? limit - used : 0;
  return room > least ? room : least;
}

/* PATH BYTES ROOM: prints the space that its files take, and where the kernel shows what it counts. There is at least
 * ROOM for more. */
void verb_subvolume_limit(char **words) {
  struct place place = open_place(words[0]);
  uint64_t bytes = strtoull(words[1], NULL, 10), least = strtoull(words[2], NULL, 10);
  enable_quotas(&place);
  struct measure now = measure(&place);
  struct btrfs_qgroup_limit limit = {.flags = BTRFS_QGROUP_LIMIT_MAX_RFER,
                                     .max_rfer = now.counted + room_for(bytes, now.used, least)};
  if (limit_count(&place, limit)) die("limit the subvolume '%s'", place.path);
  remove_unused_counts(place.parent);
  printf("%llu", (unsigned long long)now.used);
  print_counter(&place);
}

/* PATH: until the next subvolume-limit */
void verb_subvolume_unlimit(char **words) {
  struct place place = open_place(words[0]);
  struct btrfs_qgroup_limit none = {.flags = BTRFS_QGROUP_LIMIT_MAX_RFER, .max_rfer = UINT64_MAX};
  if (limit_count(&place, none)) die("unlimit the subvolume '%s'", place.path);
}
