#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define OFFSET_BYTES 8
#define SLICE 65536

/* Smaller frames wait for more window, unless they end the file. */
#define SMALLEST 4096

struct reading {
  int fd;
  int64_t position, end; /* the next byte, and the limit that the caller has set */
  int64_t data_end;      /* end of the data that `position` is in */
  bool dense;            /* the file has no holes that could be skipped */
  char *path;
};

/* Skips a hole. False at the end of the file. */
static bool find_data(struct reading *reading) {
  if (reading->dense || reading->position < reading->data_end) return true;
  off_t data = lseek(reading->fd, reading->position, SEEK_DATA);
  if (data < 0) {
    reading->dense = errno != ENXIO;
    lseek(reading->fd, reading->position, SEEK_SET);
    return reading->dense;
  }
  reading->data_end = lseek(reading->fd, data, SEEK_HOLE);
  reading->position = lseek(reading->fd, data, SEEK_SET);
  return true;
}

static void finish(struct stream *stream, struct reading *reading) {
  autobuffer struct buffer result = {0};
  struct stat status;
  if (fstat(reading->fd, &status) < 0) {
    stream_fail_call(stream, errno, "fstat '%s'", reading->path);
    return;
  }
  /* Files in /proc have size 0 and still have content. */
  put_int(&result, KEY_SIZE, status.st_size ? status.st_size : reading->position);
  put_int(&result, KEY_MODE, status.st_mode & 07777);
  put_int(&result, KEY_MTIME_NS, nanoseconds_of(&status.st_mtim));
  stream_result(stream, &result);
}

/* How much the next frame may have, or 0 to wait for more window. */
static size_t frame_room(struct stream *stream, const struct reading *reading) {
  size_t allowed = stream_allowance(stream, CHANNEL_OUT, SLICE + OFFSET_BYTES);
  int64_t left = reading->end - reading->position;
  if (!reading->dense && reading->data_end < reading->end) left = reading->data_end - reading->position;
  if (allowed < SMALLEST) return 0;
  return min_size(allowed - OFFSET_BYTES, left);
}

static void pump(struct stream *stream) {
  static uint8_t frame[OFFSET_BYTES + SLICE];
  struct reading *reading = stream->context;
  if (reading->position >= reading->end || !find_data(reading) || reading->position >= reading->end) {
    finish(stream, reading);
    return;
  }
  size_t room = frame_room(stream, reading);
  if (!room) return;
  ssize_t got = read(reading->fd, frame + OFFSET_BYTES, room);
  if (got < 0) {
    stream_fail_call(stream, errno, "read '%s'", reading->path);
    return;
  }
  if (got == 0) {
    finish(stream, reading);
    return;
  }
  store_u64(frame, reading->position);
  struct iovec piece = {frame, OFFSET_BYTES + got};
  stream_send(stream, CHANNEL_OUT, &piece, 1);
  reading->position += got;
  stream_wake(stream);
}

static void closed(struct stream *stream) {
  struct reading *reading = stream->context;
  close(reading->fd);
  free(reading->path);
  free(reading);
}

static const struct stream_ops ops = {.pump = pump, .closed = closed};

/* Opens a regular file. Anything else could block the agent, or do something when it is opened. -1 with an error. */
static int open_regular(const char *path, struct stat *status, struct error *error) {
  if (stat(path, status) < 0) return error_set(error, errno, "stat '%s'", path);
  autoclose int fd = -1;
  if (S_ISREG(status->st_mode)) {
    fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return error_set(error, errno, "open '%s'", path);
    if (fstat(fd, status) < 0) return error_set(error, errno, "fstat '%s'", path);
  }
  if (S_ISDIR(status->st_mode)) return error_set(error, EISDIR, "read '%s'", path);
  if (!S_ISREG(status->st_mode)) return error_refuse(error, EINVAL, "read '%s': not a regular file", path);
  return take_fd(&fd);
}

static struct reading *start_reading(char *path, const struct fields *fields, struct error *error) {
  int64_t offset = fields_int(fields, KEY_OFFSET, 0), limit = fields_int(fields, KEY_SIZE, INT64_MAX);
  if (offset < 0 || limit < 0) return error_refuse(error, EINVAL, "read '%s': negative offset or size", path), NULL;
  struct stat status;
  autoclose int fd = open_regular(path, &status, error);
  if (fd < 0) return NULL;
  struct reading *reading = calloc(1, sizeof *reading);
  if (!reading) return error_set(error, ENOMEM, "calloc to read '%s'", path), NULL;
  /* Beyond what the file system can address, there is nothing to read. */
  if (limit > INT64_MAX - offset) limit = INT64_MAX - offset;
  if (lseek(fd, offset, SEEK_SET) < 0) limit = 0;
  *reading = (struct reading){
      .fd = take_fd(&fd),
      .position = offset,
      .end = offset + limit,
      .dense = status.st_size == 0 || status.st_blocks * 512 >= status.st_size,
      .path = path,
  };
  return reading;
}

void op_file_read(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  struct error error;
  if (!path) return;
  struct reading *reading = start_reading(path, fields, &error);
  if (!reading) {
    stream_fail(stream, &error);
    return;
  }
  take_pointer(&path); /* the reading has it */
  stream_adopt(stream, &ops, reading);
  stream_wake(stream);
}
