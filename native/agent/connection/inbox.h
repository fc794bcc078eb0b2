/* Bytes that the host sent on a stream and that wait for a descriptor to take them. */
#pragma once

#include <stdbool.h>

#include "buffer.h"
#include "stream.h"

struct inbox {
  struct buffer waiting; /* bounded by the stream's window */
  bool ended;
};

/* False if memory is short. */
bool inbox_add(struct inbox *inbox, const uint8_t *bytes, size_t length);

/* Writes as much as the descriptor takes, and returns credit for it. False with errno if writing failed; EAGAIN is not
 * a failure. */
bool inbox_write(struct inbox *inbox, struct stream *stream, int fd);
