/* A tar archive on stdout, as GNU tar reads it: names are bytes of any length, and pax
 * records carry what the headers have no room for. */
#pragma once

#include "view.h"

/* Of a file that is shorter in the archive than on disk: where it has data. */
struct extent {
  off_t start, end;
};

/* extents.c */
struct extents {
  struct extent *list;
  size_t count, capacity;
};
/* Starts as zeros, and may be used again for the next file. False: the file has no holes. */
bool find_extents(struct extents *extents, int fd, off_t size);

enum tar_type { TAR_FILE = '0', TAR_LINK = '1', TAR_SYMLINK = '2', TAR_DIRECTORY = '5', TAR_REPORT = 'R' };

struct tar_entry {
  enum tar_type type;
  const char *name;
  const char *target; /* of a symbolic or hard link, else NULL */
  uint32_t mode, uid, gid;
  struct statx_timestamp mtime;
  off_t size;                    /* of the file itself */
  const struct extents *extents; /* NULL: all of it is in the archive */
};

/* tar.c: what comes before the content */
void put_tar_header(const struct tar_entry *entry);
/* The content, as long as the header said even if the file has become shorter. */
void put_tar_content(const struct tar_entry *entry, int fd);
void put_tar_bytes(const void *bytes, size_t length);
void end_tar(void);
