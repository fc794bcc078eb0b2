#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "records.h"
#include "stream.h"
#include "util.h"

/* Entries that are read before other work gets its turn. */
#define SLICE 256

#define FLAG_XATTRS 2

struct listing {
  DIR *directory;
  bool has_xattrs;
  struct buffer records;
  bool complete;
};

static void add_entry(struct listing *listing, const char *name) {
  struct stat status;
  int fd = dirfd(listing->directory);
  /* An entry that has disappeared since is no longer in the directory. */
  if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return;
  size_t record = record_begin(&listing->records);
  put_string(&listing->records, KEY_NAME, name);
  put_status(&listing->records, fd, name, &status);
  if (listing->has_xattrs) put_xattrs(&listing->records, fd, name, O_NOFOLLOW);
  record_end(&listing->records, record);
}

static void read_slice(struct listing *listing) {
  for (int i = 0; i < SLICE; i++) {
    struct dirent *entry = readdir(listing->directory);
    if (!entry) {
      listing->complete = true;
      return;
    }
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) add_entry(listing, entry->d_name);
  }
}

static void pump(struct stream *stream) {
  struct listing *listing = stream->context;
  if (!listing->records.length && !listing->complete) read_slice(listing);
  if (listing->records.failed) {
    stream_fail_call(stream, ENOMEM, "malloc of a listing");
    return;
  }
  records_flush(stream, &listing->records);
  if (listing->complete && !listing->records.length)
    stream_done(stream);
  else if (stream->send_window[CHANNEL_OUT] > 0)
    stream_wake(stream);
}

static void closed(struct stream *stream) {
  struct listing *listing = stream->context;
  closedir(listing->directory);
  buffer_free(&listing->records);
  free(listing);
}

static const struct stream_ops ops = {.pump = pump, .closed = closed};

void op_file_list(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  if (!path) return;
  autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  struct listing *listing = fd < 0 ? NULL : calloc(1, sizeof *listing);
  if (listing) listing->has_xattrs = fields_int(fields, KEY_FLAGS, 0) & FLAG_XATTRS;
  if (listing) listing->directory = fdopendir(fd);
  if (!listing || !listing->directory) {
    stream_fail_call(stream, errno, "open directory '%s'", path);
    free(listing);
    return;
  }
  take_fd(&fd);
  stream_adopt(stream, &ops, listing);
  stream_wake(stream);
}
