/* A whole tree over one stream, with the content of small files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "records.h"
#include "stream.h"
#include "util.h"

#define MAX_DEPTH 200
/* The content, the path and the rest have to fit into a record. */
#define MAX_CONTENT 40960
#define MAX_PATH_LENGTH 16384
/* Records that are collected before they are sent. */
#define ENOUGH 65536

struct level {
  DIR *directory;
  size_t path_length; /* of the path that leads here */
};

struct walk {
  struct level levels[MAX_DEPTH];
  int depth; /* 0 when the walk is over */
  char path[MAX_PATH_LENGTH];
  struct buffer records;
};

static int open_level(struct walk *walk, int parent, const char *name, size_t path_length, struct error *error) {
  if (walk->depth == MAX_DEPTH) return error_refuse(error, ELOOP, "'%.400s' is too deep", walk->path);
  autoclose int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  /* It has gone since it was listed, or something else has taken its name. */
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return 0;
  if (fd < 0) return error_set(error, errno, "open directory '%.400s'", walk->path);
  DIR *directory = fdopendir(fd);
  if (!directory) return error_set(error, errno, "open directory '%.400s'", walk->path);
  take_fd(&fd);
  walk->levels[walk->depth++] = (struct level){directory, path_length};
  return 0;
}

/* Files with holes, and those that change meanwhile, are read on a stream of their own. */
static void put_content(struct buffer *records, int parent, const char *name, const struct stat *status) {
  static uint8_t content[MAX_CONTENT + 1];
  if (status->st_size > MAX_CONTENT || status->st_blocks * 512 < status->st_size) return;
  autoclose int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat opened;
  if (fd < 0 || fstat(fd, &opened) < 0 || !S_ISREG(opened.st_mode)) return;
  ssize_t got = read(fd, content, status->st_size + 1);
  if (got == status->st_size) put_bytes(records, KEY_CONTENT, content, got);
}

static int add_entry(struct walk *walk, const char *name, struct error *error) {
  const struct level *level = &walk->levels[walk->depth - 1];
  int parent = dirfd(level->directory);
  size_t at = level->path_length, length = strlen(name);
  struct stat status;
  if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return 0; /* it has gone since */
  if (at + length + 2 > MAX_PATH_LENGTH) return error_refuse(error, ENAMETOOLONG, "'%.400s' is too deep", walk->path);
  memcpy(walk->path + at, name, length + 1);
  size_t record = record_begin(&walk->records);
  put_string(&walk->records, KEY_PATH, walk->path);
  put_status(&walk->records, parent, name, &status);
  if (S_ISREG(status.st_mode)) put_content(&walk->records, parent, name, &status);
  record_end(&walk->records, record);
  if (!S_ISDIR(status.st_mode)) return 0;
  strcpy(walk->path + at + length, "/");
  return open_level(walk, parent, name, at + length + 1, error);
}

static int step(struct walk *walk, struct error *error) {
  DIR *directory = walk->levels[walk->depth - 1].directory;
  struct dirent *entry = readdir(directory);
  if (entry)
    return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") ? add_entry(walk, entry->d_name, error) : 0;
  closedir(directory);
  walk->depth--;
  return 0;
}

static void pump(struct stream *stream) {
  struct walk *walk = stream->context;
  struct error error;
  while (walk->depth && walk->records.length < ENOUGH && !walk->records.failed)
    if (step(walk, &error) < 0) {
      stream_fail(stream, &error);
      return;
    }
  if (walk->records.failed) {
    stream_fail_call(stream, ENOMEM, "malloc of a record");
    return;
  }
  records_flush(stream, &walk->records);
  if (!walk->depth && !walk->records.length)
    stream_done(stream);
  else if (stream->send_window[CHANNEL_OUT] > 0)
    stream_wake(stream);
}

static void closed(struct stream *stream) {
  struct walk *walk = stream->context;
  while (walk->depth) closedir(walk->levels[--walk->depth].directory);
  buffer_free(&walk->records);
  free(walk);
}

static const struct stream_ops ops = {.pump = pump, .closed = closed};

void op_tree_read(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  struct walk *walk = path ? calloc(1, sizeof *walk) : NULL;
  struct error error;
  if (!path) return;
  if (!walk) {
    stream_fail_call(stream, ENOMEM, "calloc to read '%s'", path);
    return;
  }
  /* The path itself may lead over symlinks, as in every other operation. */
  autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) error_set(&error, errno, "open directory '%s'", path);
  if (fd < 0 || open_level(walk, fd, ".", 0, &error) < 0) {
    stream_fail(stream, &error);
    free(walk);
    return;
  }
  stream_adopt(stream, &ops, walk);
  stream_wake(stream);
}
