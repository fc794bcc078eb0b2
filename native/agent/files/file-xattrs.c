#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "files.h"
#include "util.h"

#define PREFIX "user."

/* Of one file: a record must hold them, whatever a program inside has set. */
#define MAX_BYTES 8192

static void put_one(struct buffer *fields, const char *path, const char *name, size_t *room) {
  char field[MAX_BYTES];
  size_t length = strlen(name);
  if (length + 1 >= *room) return;
  ssize_t size = getxattr(path, name, field + length + 1, *room - length - 1);
  /* It is gone since, or too long, or no text. */
  if (size < 0 || memchr(field + length + 1, 0, size)) return;
  memcpy(field, name, length);
  field[length] = '=';
  put_bytes(fields, KEY_XATTR, field, length + 1 + size);
  *room -= length + 1 + size;
}

void put_xattrs(struct buffer *fields, int directory, const char *name, int flags) {
  char names[MAX_BYTES], path[64];
  size_t room = MAX_BYTES;
  autoclose int fd = openat(directory, name, O_PATH | O_CLOEXEC | flags);
  if (fd < 0) return;
  /* Such a descriptor names what it is of, even a symlink, but has no attributes itself. */
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  ssize_t length = listxattr(path, names, sizeof names);
  /* Many file systems have none. */
  for (char *each = names; length > 0 && each < names + length; each += strlen(each) + 1)
    if (!strncmp(each, PREFIX, sizeof PREFIX - 1)) put_one(fields, path, each, &room);
}

int set_xattrs(int fd, const char *path, char **xattrs, struct error *error) {
  for (; xattrs && *xattrs; xattrs++) {
    char *value = strchr(*xattrs, '=');
    if (!value) return error_refuse(error, EINVAL, "attribute '%.200s' has no value", *xattrs);
    autofree char *name = format("%.*s", (int)(value - *xattrs), *xattrs);
    if (!name) return error_set(error, ENOMEM, "malloc to write '%s'", path);
    if (fsetxattr(fd, name, value + 1, strlen(value + 1), 0) < 0)
      return error_set(error, errno, "fsetxattr '%s' of '%s'", name, path);
  }
  return 0;
}
