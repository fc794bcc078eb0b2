/* A stream: one operation of one connection, with a window for each channel. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "buffer.h"
#include "fields.h"
#include "list.h"
#include "loop.h"
#include "protocol.h"
#include "shared/error.h"

struct connection;
struct stream;

/* What an operation that continues after its OPEN does with its stream. */
struct stream_ops {
  /* Sends more if there is more. Called after stream_wake when the connection has room. */
  void (*pump)(struct stream *stream);
  /* DATA came on channel 0; it is already counted against the window. */
  void (*data)(struct stream *stream, const uint8_t *bytes, size_t length);
  /* END came on channel 0. */
  void (*end)(struct stream *stream, const struct fields *fields);
  /* The host has consumed LENGTH bytes of this channel. */
  void (*credit)(struct stream *stream, int channel, uint32_t length);
  /* The stream has ended, for whatever reason, and must not be used any more. Must not send. */
  void (*closed)(struct stream *stream);
};

struct stream {
  uint32_t id;
  struct connection *connection;
  struct list in_connection; /* the connection's hash bucket */
  struct list parked;        /* waiting until the connection's output drains */
  struct task task;
  const struct stream_ops *ops;
  void *context; /* of the operation */
  int64_t send_window[CHANNELS];
  int64_t receive_window; /* channel 0 */
  uint32_t credit_due;    /* consumed, and not yet returned to the host */
};

struct stream *stream_new(struct connection *connection, uint32_t id);

/* Takes the stream over for an operation that continues after its OPEN. */
void stream_adopt(struct stream *stream, const struct stream_ops *ops, void *context);

/* Has `pump` called at the end of this turn, or as soon as the connection has room. */
void stream_wake(struct stream *stream);

/* How many bytes of DATA can be sent on this channel now, at most WANTED. */
size_t stream_allowance(struct stream *stream, int channel, size_t wanted);

/* Sends one DATA frame. The caller must stay within stream_allowance. */
void stream_send(struct stream *stream, int channel, const struct iovec *pieces, int count);

void stream_event(struct stream *stream, struct buffer *fields);
void stream_end(struct stream *stream, int channel);

/* Returns credit for consumed input, in batches, to keep the number of WINDOW frames low. */
void stream_consumed(struct stream *stream, uint32_t length);

/* All of these end and free the stream. */
void stream_result(struct stream *stream, struct buffer *fields);
void stream_done(struct stream *stream); /* RESULT without fields */
void stream_fail(struct stream *stream, const struct error *error);
/* A system call failed, as in error_set. */
void stream_fail_call(struct stream *stream, int code, const char *template, ...) __attribute__((format(printf, 3, 4)));
/* As in error_refuse. */
void stream_refuse(struct stream *stream, int code, const char *template, ...) __attribute__((format(printf, 3, 4)));
void stream_drop(struct stream *stream); /* sends nothing */
