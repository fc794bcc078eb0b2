/* Connections of the host: frames in, a bounded queue of frames out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "list.h"

struct connection;
struct stream;

/* Listens at `path`, replacing a stale socket. 0, or -1 with errno. */
int connections_listen(const char *path);

int connections_count(void);

/* Ends every connection, `last` after the others. */
void connections_close_all(struct connection *last);

/* Sends a frame now, queueing what the kernel does not take. */
void connection_send(struct connection *connection, int type, int channel, uint32_t stream,
		     const struct iovec *pieces, int count);

/* Less than 1 MiB waits in the queue: sources may be served. */
bool connection_has_room(const struct connection *connection);

/* The stream's task is scheduled again when there is room. */
void connection_park(struct connection *connection, struct list *parked);

void connection_forget_stream(struct connection *connection, struct stream *stream);

/* Nothing more is sent or received. Its streams are dropped and its memory goes
 * at the end of the turn, because callers up the stack still hold them. */
void connection_close(struct connection *connection);
