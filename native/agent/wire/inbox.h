/* What the host sent on a stream, until a descriptor takes it. */
#pragma once

#include <stdbool.h>

#include "buffer.h"
#include "stream.h"

struct inbox {
	struct buffer waiting; /* bounded by the stream's window */
	bool ended;
};

/* False when memory is short. */
bool inbox_add(struct inbox *inbox, const uint8_t *bytes, size_t length);

/* Writes what the descriptor takes and returns credit for it. False with errno
 * when writing failed; EAGAIN is no failure. */
bool inbox_write(struct inbox *inbox, struct stream *stream, int fd);
