#define _GNU_SOURCE
#include "inbox.h"

#include <errno.h>
#include <unistd.h>

bool inbox_add(struct inbox *inbox, const uint8_t *bytes, size_t length) {
  return buffer_append(&inbox->waiting, bytes, length);
}

bool inbox_write(struct inbox *inbox, struct stream *stream, int fd) {
  while (inbox->waiting.length) {
    ssize_t put = write(fd, buffer_bytes(&inbox->waiting), inbox->waiting.length);
    if (put < 0) return errno == EAGAIN || errno == EINTR;
    buffer_consume(&inbox->waiting, put);
    stream_consumed(stream, put);
  }
  return true;
}
