/* Many small entries over one stream, because a stream for each takes several times as long as writing it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define RECORD_HEADER 4

static int put_symlink(const char *path, const struct fields *fields, struct error *error) {
  autofree char *target = fields_string(fields, KEY_TARGET);
  if (!target || !*target) return error_refuse(error, EINVAL, "symlink '%s' needs a target", path);
  if (unlink(path) < 0 && errno != ENOENT) return error_set(error, errno, "unlink '%s'", path);
  if (symlink(target, path) < 0) return error_set(error, errno, "symlink '%s'", path);
  return file_change(path, fields, error);
}

static int put_file(char **path, const struct fields *fields, struct error *error) {
  struct field content = {0};
  size_t position = 0;
  for (struct field field; fields_next(fields, &position, &field);)
    if (field.key == KEY_CONTENT) content = field;
  return file_put(path, fields, content.bytes, content.length, error);
}

/* A record without a type changes what is there already. */
static int put_entry(const struct fields *fields, struct error *error) {
  autofree char *path = fields_string(fields, KEY_PATH);
  if (!fields_valid(fields) || !path || *path != '/')
    return error_refuse(error, EINVAL, "an entry without an absolute path");
  switch (fields_int(fields, KEY_TYPE, 0)) {
    case 0: return file_change(path, fields, error);
    case TYPE_FILE: return put_file(&path, fields, error);
    case TYPE_DIRECTORY: return make_directory(path, 0700, error);
    case TYPE_SYMLINK: return put_symlink(path, fields, error);
    default: return error_refuse(error, EINVAL, "'%.400s' is no file, directory or symlink", path);
  }
}

/* Takes one whole record from the bytes. 1, 0 if there is none, or -1 with an error. */
static int take_record(struct buffer *bytes, struct error *error) {
  if (bytes->length < RECORD_HEADER) return 0;
  size_t length = load_u32(buffer_bytes(bytes));
  if (length > RECORD_MAX) return error_refuse(error, EINVAL, "a record of %zu bytes", length);
  if (bytes->length < RECORD_HEADER + length) return 0;
  const struct fields fields = {buffer_bytes(bytes) + RECORD_HEADER, length};
  if (put_entry(&fields, error) < 0) return -1;
  buffer_consume(bytes, RECORD_HEADER + length);
  return 1;
}

static void data(struct stream *stream, const uint8_t *bytes, size_t length) {
  struct buffer *unread = stream->context;
  struct error error;
  int taken = buffer_append(unread, bytes, length) ? 1 : error_set(&error, ENOMEM, "malloc of a record");
  while (taken > 0) taken = take_record(unread, &error);
  if (taken < 0)
    stream_fail(stream, &error);
  else
    stream_consumed(stream, length);
}

static void end(struct stream *stream, const struct fields *fields) {
  struct buffer *unread = stream->context;
  (void)fields;
  if (unread->length)
    stream_refuse(stream, EINVAL, "the last record is cut off");
  else
    stream_done(stream);
}

static void closed(struct stream *stream) {
  buffer_free(stream->context);
  free(stream->context);
}

static const struct stream_ops ops = {.data = data, .end = end, .closed = closed};

void op_tree_write(struct stream *stream, const struct fields *fields) {
  struct buffer *unread = calloc(1, sizeof *unread);
  (void)fields;
  if (unread)
    stream_adopt(stream, &ops, unread);
  else
    stream_fail_call(stream, ENOMEM, "calloc to write a tree");
}
