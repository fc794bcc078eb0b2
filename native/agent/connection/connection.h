/* Connections of the host: frames in, and a bounded queue of frames out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "list.h"
#include "peer.h"
#include "shared/error.h"

struct connection;
struct stream;

/* Listens at PATH, and replaces a stale socket. Everyone but FROM is turned away. 0, or -1 with an error. */
int connections_listen(const char *path, enum clients from, struct error *error);

int connections_count(void);

/* Ends all connections, LAST after the others. */
void connections_close_all(struct connection *last);

/* Sends a frame, and queues what the kernel does not take. */
void connection_send(struct connection *connection, int type, int channel, uint32_t stream, const struct iovec *pieces,
                     int count);

/* Whether less than 1 MiB waits in the queue, so that streams may send. */
bool connection_has_room(const struct connection *connection);

/* Has the stream's task scheduled again when there is room. */
void connection_park(struct connection *connection, struct list *parked);

void connection_forget_stream(struct connection *connection, struct stream *stream);

/* Sends and receives nothing more. Streams are dropped and memory is freed at the end of the turn, because callers up
 * the stack still use them. */
void connection_close(struct connection *connection);
