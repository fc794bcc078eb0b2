/* The inner state of a connection, for connection.c and incoming.c only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "list.h"
#include "loop.h"
#include "protocol.h"

#define BUCKETS 64

/* Room to receive two whole frames, so that one can be handled while the next arrives. */
#define RECEIVE_BYTES (2 * (FRAME_MAX + FRAME_HEADER))

struct connection {
  struct source source;
  struct list link;
  struct task close_later;
  bool closed; /* sends nothing more, and is freed at the end of the turn */
  bool greeted;
  struct list streams[BUCKETS];
  int stream_count;
  struct list parked;
  struct buffer output;
  uint8_t *input;
  size_t input_length;
  struct buffer open_fields; /* of an OPEN that is split into several frames */
  uint32_t open_stream;      /* its stream, or 0 */
};

/* Handles all complete frames that were received. A malformed one ends the connection. */
void incoming_handle(struct connection *connection);
