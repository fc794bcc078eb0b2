/* A stream: one operation of one connection, with a window per channel. */
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

struct connection;
struct stream;

/* What an operation that outlives its OPEN frame does with its stream. */
struct stream_ops {
	/* Sends more if it can; called after stream_wake when the connection has room. */
	void (*pump)(struct stream *stream);
	/* DATA on channel 0, already counted against the window. */
	void (*data)(struct stream *stream, const uint8_t *bytes, size_t length);
	/* END on channel 0. */
	void (*end)(struct stream *stream, const struct fields *fields);
	/* The host consumed `length` bytes of this channel. */
	void (*credit)(struct stream *stream, int channel, uint32_t length);
	/* The stream is over, for whatever reason: let go of it. Must not send. */
	void (*closed)(struct stream *stream);
};

struct stream {
	uint32_t id;
	struct connection *connection;
	struct list in_connection; /* the connection's hash bucket */
	struct list parked;        /* waits for the connection's output to drain */
	struct task task;
	const struct stream_ops *ops;
	void *context;             /* the operation's own */
	int64_t send_window[CHANNELS];
	int64_t receive_window;    /* channel 0 */
	uint32_t credit_due;       /* consumed, not yet returned to the host */
};

struct stream *stream_new(struct connection *connection, uint32_t id);

/* Takes the stream over for an operation that goes on after its OPEN. */
void stream_adopt(struct stream *stream, const struct stream_ops *ops, void *context);

/* Has pump called soon: now if the connection has room, else when it has. */
void stream_wake(struct stream *stream);

/* How many bytes of DATA may go out now on this channel, at most `wanted`. */
size_t stream_allowance(struct stream *stream, int channel, size_t wanted);

/* Sends one DATA frame; the caller stayed within stream_allowance. */
void stream_send(struct stream *stream, int channel, const struct iovec *pieces, int count);

void stream_event(struct stream *stream, struct buffer *fields);
void stream_end(struct stream *stream, int channel);

/* Returns credit for consumed input, batched so that WINDOW frames stay few. */
void stream_consumed(struct stream *stream, uint32_t length);

/* These end the stream; it is freed. */
void stream_result(struct stream *stream, struct buffer *fields);
void stream_done(struct stream *stream); /* RESULT without fields */
void stream_fail(struct stream *stream, int error, const char *template, ...)
	__attribute__((format(printf, 3, 4)));
void stream_drop(struct stream *stream); /* says nothing to the host */
