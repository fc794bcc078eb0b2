#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define FLAG_PARENTS 1

int make_directory(const char *path, mode_t mode, struct error *error) {
  struct stat status;
  if (mkdir(path, mode) == 0) return 0;
  if (errno != EEXIST) return error_set(error, errno, "mkdir '%s'", path);
  if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return 0;
  return error_set(error, ENOTDIR, "mkdir '%s'", path);
}

int make_parents(const char *path, struct error *error) {
  autofree char *copy = strdup(path);
  if (!copy) return error_set(error, ENOMEM, "malloc");
  for (char *at = copy + 1; (at = strchr(at, '/')); at++) {
    *at = 0;
    if (make_directory(copy, 0755, error) < 0) return -1;
    *at = '/';
  }
  return 0;
}

static int make(const char *path, const struct fields *fields, struct error *error) {
  mode_t mode = fields_int(fields, KEY_MODE, 0755) & 07777;
  if (fields_int(fields, KEY_FLAGS, 0) & FLAG_PARENTS) {
    if (make_parents(path, error) < 0 || make_directory(path, mode, error) < 0) return -1;
  } else if (mkdir(path, mode) < 0) {
    return error_set(error, errno, "mkdir '%s'", path);
  }
  /* mkdir applies the umask to the mode. */
  if (fields_has(fields, KEY_MODE) && chmod(path, mode) < 0) return error_set(error, errno, "chmod '%s'", path);
  return 0;
}

void op_file_mkdir(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  struct error error;
  if (!path) return;
  if (make(path, fields, &error) < 0)
    stream_fail(stream, &error);
  else
    stream_done(stream);
}

void op_file_rename(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  autofree char *target = path ? path_field(stream, fields, KEY_TARGET) : NULL;
  if (!target) return;
  if (rename(path, target) < 0)
    stream_fail_call(stream, errno, "rename '%s' to '%s'", path, target);
  else
    stream_done(stream);
}

void op_file_symlink(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  autofree char *target = fields_string(fields, KEY_TARGET);
  if (!path) return;
  if (!target || !*target)
    stream_refuse(stream, EINVAL, "symlink '%s' needs a target", path);
  else if (symlink(target, path) < 0)
    stream_fail_call(stream, errno, "symlink '%s'", path);
  else
    stream_done(stream);
}
