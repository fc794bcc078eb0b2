#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

enum { FLAG_NO_FOLLOW = 1, FLAG_XATTRS = 2 };

char *path_field(struct stream *stream, const struct fields *fields, uint16_t key) {
  autofree char *path = fields_string(fields, key);
  if (path && *path == '/') return take_pointer(&path);
  stream_refuse(stream, EINVAL, "path '%.200s' is not an absolute path", path ? path : "");
  return NULL;
}

static int type_of(mode_t mode) {
  return S_ISREG(mode) ? TYPE_FILE : S_ISDIR(mode) ? TYPE_DIRECTORY : S_ISLNK(mode) ? TYPE_SYMLINK : TYPE_OTHER;
}

void put_status(struct buffer *fields, int directory, const char *name, const struct stat *status) {
  char target[4096];
  put_int(fields, KEY_TYPE, type_of(status->st_mode));
  put_int(fields, KEY_MODE, status->st_mode & 07777);
  put_int(fields, KEY_SIZE, status->st_size);
  put_int(fields, KEY_MTIME_NS, nanoseconds_of(&status->st_mtim));
  put_int(fields, KEY_UID, status->st_uid);
  put_int(fields, KEY_GID, status->st_gid);
  put_int(fields, KEY_BLOCKS, status->st_blocks);
  put_int(fields, KEY_NLINK, status->st_nlink);
  if (!S_ISLNK(status->st_mode)) return;
  ssize_t length = readlinkat(directory, name, target, sizeof target);
  if (length >= 0) put_bytes(fields, KEY_TARGET, target, length);
}

void op_file_stat(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  autobuffer struct buffer result = {0};
  struct stat status;
  if (!path) return;
  int64_t flags = fields_int(fields, KEY_FLAGS, 0);
  if (fstatat(AT_FDCWD, path, &status, flags & FLAG_NO_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0) {
    stream_fail_call(stream, errno, "stat '%s'", path);
    return;
  }
  put_status(&result, AT_FDCWD, path, &status);
  if (flags & FLAG_XATTRS) put_xattrs(&result, AT_FDCWD, path, flags & FLAG_NO_FOLLOW ? O_NOFOLLOW : 0);
  stream_result(stream, &result);
}

/* An O_PATH descriptor takes no fchmod. Through /proc the kernel follows the descriptor, and never a symlink that has
 * taken the name meanwhile. */
static int change_mode(int fd, const char *path, mode_t mode, struct error *error) {
  char link[64];
  struct stat status;
  if (fstat(fd, &status) < 0) return error_set(error, errno, "fstat '%s'", path);
  if (S_ISLNK(status.st_mode)) return error_set(error, EOPNOTSUPP, "chmod '%s'", path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return chmod(link, mode) < 0 ? error_set(error, errno, "chmod '%s'", path) : 0;
}

static int change_time(const char *path, int64_t mtime_ns, struct error *error) {
  struct timespec times[2];
  modification_time(times, mtime_ns);
  if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0) return 0;
  return error_set(error, errno, "utimensat '%s'", path);
}

/* The owner comes first: changing it clears the set-user-id bits of the mode. */
int file_change(const char *path, const struct fields *fields, struct error *error) {
  uid_t uid = fields_int(fields, KEY_UID, -1);
  gid_t gid = fields_int(fields, KEY_GID, -1);
  autoclose int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return error_set(error, errno, "open '%s'", path);
  if ((uid != (uid_t)-1 || gid != (gid_t)-1) && fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0)
    return error_set(error, errno, "chown '%s'", path);
  mode_t mode = fields_int(fields, KEY_MODE, 0) & 07777;
  if (fields_has(fields, KEY_MODE) && change_mode(fd, path, mode, error) < 0) return -1;
  return fields_has(fields, KEY_MTIME_NS) ? change_time(path, fields_int(fields, KEY_MTIME_NS, 0), error) : 0;
}

void op_file_setattr(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  struct error error;
  if (!path) return;
  if (file_change(path, fields, &error) < 0)
    stream_fail(stream, &error);
  else
    stream_done(stream);
}
