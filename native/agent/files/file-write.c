#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define OFFSET_BYTES 8
#define MAX_LINKS 40

enum { FLAG_PARENTS = 1, FLAG_APPEND = 2, FLAG_EXCLUSIVE = 4, FLAG_NEW = 8 };

struct writing {
  int fd;
  char *path;
  char *beside;           /* the temporary name; NULL if the file is written in place */
  int64_t mode, uid, gid; /* -1 leaves it as it is */
  bool has_mtime;
  int64_t mtime_ns;
  bool exclusive;
  char **xattrs; /* "NAME=VALUE", to the last one, which is NULL; one allocation */
};

/* Appended bytes go to the end of the file, wherever that is by then; their offsets do not matter. */
static int write_at(const struct writing *writing, const uint8_t *bytes, size_t length, uint64_t offset) {
  while (length) {
    ssize_t put = writing->beside ? pwrite(writing->fd, bytes, length, offset) : write(writing->fd, bytes, length);
    if (put < 0) return -1;
    bytes += put;
    length -= put;
    offset += put;
  }
  return 0;
}

static void data(struct stream *stream, const uint8_t *bytes, size_t length) {
  struct writing *writing = stream->context;
  if (length < OFFSET_BYTES || load_u64(bytes) > INT64_MAX - length) {
    stream_refuse(stream, EINVAL, "DATA of a file does not start with an offset");
    return;
  }
  if (write_at(writing, bytes + OFFSET_BYTES, length - OFFSET_BYTES, load_u64(bytes)) < 0)
    stream_fail_call(stream, errno, "write '%s'", writing->path);
  else
    stream_consumed(stream, length);
}

/* The owner comes before the mode: changing it clears set-user-id bits. */
static int set_attributes(const struct writing *writing, struct error *error) {
  struct timespec times[2];
  modification_time(times, writing->mtime_ns);
  if ((writing->uid >= 0 || writing->gid >= 0) && fchown(writing->fd, writing->uid, writing->gid) < 0)
    return error_set(error, errno, "fchown '%s'", writing->path);
  if (writing->mode >= 0 && fchmod(writing->fd, writing->mode) < 0)
    return error_set(error, errno, "fchmod '%s'", writing->path);
  if (set_xattrs(writing->fd, writing->path, writing->xattrs, error) < 0) return -1;
  if (writing->has_mtime && futimens(writing->fd, times) < 0)
    return error_set(error, errno, "futimens '%s'", writing->path);
  return 0;
}

static int put_in_place(struct writing *writing, struct error *error) {
  if (!writing->beside) return 0;
  if (renameat2(AT_FDCWD, writing->beside, AT_FDCWD, writing->path, writing->exclusive ? RENAME_NOREPLACE : 0) < 0)
    return error_set(error, errno, "rename to '%s'", writing->path);
  free(writing->beside);
  writing->beside = NULL;
  return 0;
}

static int finish(struct writing *writing, int64_t size, struct stat *status, struct error *error) {
  if (size >= 0 && writing->beside && ftruncate(writing->fd, size) < 0)
    return error_set(error, errno, "ftruncate '%s'", writing->path);
  if (set_attributes(writing, error) < 0 || put_in_place(writing, error) < 0) return -1;
  return fstat(writing->fd, status) < 0 ? error_set(error, errno, "fstat '%s'", writing->path) : 0;
}

static void end(struct stream *stream, const struct fields *fields) {
  autobuffer struct buffer result = {0};
  struct stat status;
  struct error error;
  if (finish(stream->context, fields_int(fields, KEY_SIZE, -1), &status, &error) < 0) {
    stream_fail(stream, &error);
    return;
  }
  put_int(&result, KEY_SIZE, status.st_size);
  stream_result(stream, &result);
}

static void writing_free(struct writing *writing) {
  close_fd(&writing->fd);
  if (writing->beside) unlink(writing->beside);
  free(writing->beside);
  free(writing->path);
  free(writing->xattrs);
  free(writing);
}

static void closed(struct stream *stream) { writing_free(stream->context); }

static const struct stream_ops ops = {.data = data, .end = end, .closed = closed};

/* The path that the symlink at PATH leads to, or NULL with errno. */
static char *link_target(const char *path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return NULL;
  target[length] = 0;
  if (*target == '/') return strdup(target);
  return format("%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, target);
}

/* Replaces *PATH with what symlinks there lead to: a write must not replace a link. 1 if a file is there, 0 if not, or
 * -1 with an error. */
static int follow_links(char **path, struct stat *status, struct error *error) {
  for (int i = 0; i < MAX_LINKS; i++) {
    if (lstat(*path, status) < 0) return errno == ENOENT ? 0 : error_set(error, errno, "lstat '%s'", *path);
    if (!S_ISLNK(status->st_mode)) return 1;
    char *target = link_target(*path);
    if (!target) return error_set(error, errno, "readlink '%s'", *path);
    free(*path);
    *path = target;
  }
  return error_set(error, ELOOP, "readlink '%s'", *path);
}

static int open_beside(struct writing *writing, struct error *error) {
  static unsigned long number;
  const char *base = strrchr(writing->path, '/') + 1;
  for (int tries = 0; tries < 100; tries++) {
    autofree char *name = format("%.*s.forkpoint-%lx", (int)(base - writing->path), writing->path, ++number);
    if (!name) return error_set(error, ENOMEM, "malloc to write '%s'", writing->path);
    writing->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (writing->fd >= 0) {
      writing->beside = take_pointer(&name);
      return 0;
    }
    if (errno != EEXIST) break;
  }
  return error_set(error, errno, "open a file beside '%s'", writing->path);
}

static int open_to_append(struct writing *writing, struct error *error) {
  int mode = writing->mode < 0 ? 0644 : writing->mode;
  writing->fd = open(writing->path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  return writing->fd < 0 ? error_set(error, errno, "open '%s' to append", writing->path) : 0;
}

/* To everybody else, the file that takes the place of another is the same. */
static void keep_attributes(struct writing *writing, const struct stat *status) {
  if (writing->mode < 0) writing->mode = status->st_mode & 07777;
  if (writing->uid < 0) writing->uid = status->st_uid;
  if (writing->gid < 0) writing->gid = status->st_gid;
}

/* In a tree that nobody else uses yet. */
static int open_new(struct writing *writing, struct error *error) {
  writing->fd = open(writing->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return writing->fd < 0 ? error_set(error, errno, "open '%s'", writing->path) : 0;
}

static int open_target(struct writing *writing, int64_t flags, struct error *error) {
  struct stat status;
  if (flags & FLAG_NEW) return open_new(writing, error);
  if (flags & FLAG_PARENTS && make_parents(writing->path, error) < 0) return -1;
  int there = follow_links(&writing->path, &status, error);
  if (there < 0) return -1;
  if (there && S_ISDIR(status.st_mode)) return error_set(error, EISDIR, "write '%s'", writing->path);
  if (there && writing->exclusive) return error_set(error, EEXIST, "write '%s'", writing->path);
  if (there && !S_ISREG(status.st_mode))
    return error_refuse(error, EINVAL, "write '%s': not a regular file", writing->path);
  if (flags & FLAG_APPEND) return open_to_append(writing, error);
  if (open_beside(writing, error) < 0) return -1;
  if (there) keep_attributes(writing, &status);
  if (writing->mode < 0) writing->mode = 0644;
  return 0;
}

static struct writing *new_writing(const struct fields *fields, char *path, struct error *error) {
  autofree char **xattrs = NULL;
  if (fields_has(fields, KEY_XATTR) && fields_strings(fields, KEY_XATTR, &xattrs, error) < 0) return NULL;
  struct writing *writing = calloc(1, sizeof *writing);
  if (!writing) {
    error_set(error, ENOMEM, "calloc to write '%s'", path);
    return NULL;
  }
  int64_t mode = fields_int(fields, KEY_MODE, -1);
  *writing = (struct writing){
      .fd = -1,
      .path = path,
      .mode = mode < 0 ? -1 : mode & 07777,
      .uid = fields_int(fields, KEY_UID, -1),
      .gid = fields_int(fields, KEY_GID, -1),
      .has_mtime = fields_has(fields, KEY_MTIME_NS),
      .mtime_ns = fields_int(fields, KEY_MTIME_NS, 0),
      .exclusive = fields_int(fields, KEY_FLAGS, 0) & FLAG_EXCLUSIVE,
      .xattrs = take_pointer(&xattrs),
  };
  return writing;
}

int file_put(char **path, const struct fields *fields, const uint8_t *bytes, size_t length, struct error *error) {
  struct writing *writing = new_writing(fields, *path, error);
  struct stat status;
  if (!writing) return -1;
  take_pointer(path); /* the writing has it */
  int result = open_target(writing, fields_int(fields, KEY_FLAGS, 0), error);
  if (result == 0 && write_at(writing, bytes, length, 0) < 0)
    result = error_set(error, errno, "write '%s'", writing->path);
  if (result == 0) result = finish(writing, length, &status, error);
  writing_free(writing);
  return result;
}

void op_file_write(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  struct error error;
  if (!path) return;
  struct writing *writing = new_writing(fields, path, &error);
  if (!writing) {
    stream_fail(stream, &error);
    return;
  }
  take_pointer(&path); /* the writing has it */
  if (open_target(writing, fields_int(fields, KEY_FLAGS, 0), &error) == 0) {
    stream_adopt(stream, &ops, writing);
    return;
  }
  stream_fail(stream, &error);
  writing_free(writing);
}
