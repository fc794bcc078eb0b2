/* Where a file has data. A sandbox may make files of terabytes that are nothing but
 * holes, and files with more holes than anybody wants to list. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "report.h"
#include "tar.h"

/* A file with more than this many extents is listed with its longer holes only. */
#define MOST_EXTENTS (1 << 18)
/* tar counts in blocks of this size. */
#define BLOCK 512

static void add_extent(struct extents *extents, off_t start, off_t end) {
  if (extents->count == extents->capacity) {
    extents->capacity = extents->capacity ? 2 * extents->capacity : 64;
    extents->list = require_memory(reallocarray(extents->list, extents->capacity, sizeof *extents->list));
  }
  extents->list[extents->count++] = (struct extent){start, end};
}

/* Holes shorter than `gap` count as data. False: there are too many of the others. */
static bool list_extents(struct extents *extents, int fd, off_t size, off_t gap) {
  extents->count = 0;
  for (off_t at = 0; at < size;) {
    off_t start = lseek(fd, at, SEEK_DATA);
    if (start < 0 && errno == ENXIO) break;
    off_t end = start < 0 ? size : lseek(fd, start, SEEK_HOLE);
    if (start < 0) start = at; /* a file system that does not know holes */
    start -= start % BLOCK;
    if (end > start) end += (BLOCK - end % BLOCK) % BLOCK;
    if (end <= start || end > size) end = size;
    struct extent *last = extents->count ? &extents->list[extents->count - 1] : NULL;
    if (start >= size) break;
    if (last && start - last->end < gap) {
      last->end = end;
    } else {
      if (extents->count == MOST_EXTENTS) return false;
      add_extent(extents, start, end);
    }
    at = end;
  }
  return true;
}

bool find_extents(struct extents *extents, int fd, off_t size) {
  for (off_t gap = 1; !list_extents(extents, fd, size, gap);) gap = gap == 1 ? 1 << 16 : 4 * gap;
  bool whole = extents->count == 1 && !extents->list[0].start && extents->list[0].end == size;
  if (!size || whole) return false;
  /* The list tells where the file ends. */
  off_t last = extents->count ? extents->list[extents->count - 1].end : 0;
  if (last < size) add_extent(extents, size, size);
  return true;
}
