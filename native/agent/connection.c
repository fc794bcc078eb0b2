#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "buffer.h"
#include "dispatch.h"
#include "fields.h"
#include "loop.h"
#include "protocol.h"
#include "stream.h"
#include "util.h"

#define QUEUE_LIMIT (1 << 20)
#define BUCKETS 64

/* Room to receive two whole frames, so that one can be handled while the next arrives. */
#define RECEIVE_BYTES (2 * (FRAME_MAX + FRAME_HEADER))

struct connection {
	struct source source;
	struct list link;
	struct task close_later;
	bool closed; /* sends nothing more; goes at the end of the turn */
	bool greeted;
	struct list streams[BUCKETS];
	int stream_count;
	struct list parked;
	struct buffer output;
	uint8_t *input;
	size_t input_length;
	struct buffer open_fields; /* of an OPEN that is split over frames */
	uint32_t open_stream;      /* 0: none is */
};

struct frame {
	uint32_t length;
	uint8_t type, channel;
	uint16_t flags;
	uint32_t stream;
	const uint8_t *payload;
};

static struct source listener;
static struct list connections = LIST_INIT(connections);
static int connection_count;

int connections_count(void)
{
	return connection_count;
}

static void finish_close(struct task *task)
{
	struct connection *connection = container_of(task, struct connection, close_later);

	for (int i = 0; i < BUCKETS; i++)
		while (!list_empty(&connection->streams[i]))
			stream_drop(container_of(connection->streams[i].next, struct stream, in_connection));
	source_close(&connection->source);
	list_remove(&connection->link);
	connection_count--;
	/* A full house stopped accepting. */
	source_watch(&listener, EPOLLIN);
	buffer_free(&connection->output);
	buffer_free(&connection->open_fields);
	free(connection->input);
	free(connection);
}

void connection_close(struct connection *connection)
{
	if (connection->closed)
		return;
	connection->closed = true;
	source_watch(&connection->source, 0);
	task_schedule(&connection->close_later);
}

void connections_close_all(struct connection *last)
{
	list_for_each(node, &connections) {
		struct connection *connection = container_of(node, struct connection, link);
		if (connection != last)
			connection_close(connection);
	}
	connection_close(last);
}

bool connection_has_room(const struct connection *connection)
{
	return !connection->closed && connection->output.length < QUEUE_LIMIT;
}

void connection_park(struct connection *connection, struct list *parked)
{
	list_append(&connection->parked, parked);
}

static void unpark(struct connection *connection)
{
	while (!list_empty(&connection->parked)) {
		struct stream *stream = container_of(connection->parked.next, struct stream, parked);
		list_remove(&stream->parked);
		task_schedule(&stream->task);
	}
}

void connection_forget_stream(struct connection *connection, struct stream *stream)
{
	list_remove(&stream->in_connection);
	connection->stream_count--;
}

/* Input is read only while answers drain, so a host that floods requests and
 * reads nothing holds up itself alone. */
static void update_interest(struct connection *connection)
{
	uint32_t events = connection_has_room(connection) ? EPOLLIN : 0;

	if (connection->output.length)
		events |= EPOLLOUT;
	if (source_watch(&connection->source, events) < 0)
		connection_close(connection);
}

static ssize_t send_now(struct connection *connection, const struct iovec *pieces, int count)
{
	struct msghdr message = { .msg_iov = (struct iovec *)pieces, .msg_iovlen = count };
	ssize_t sent = sendmsg(connection->source.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
		return 0;
	return sent;
}

static void queue_rest(struct connection *connection, const struct iovec *pieces, int count, size_t sent)
{
	for (int i = 0; i < count; i++) {
		size_t skip = min_size(sent, pieces[i].iov_len);
		sent -= skip;
		buffer_append(&connection->output, (uint8_t *)pieces[i].iov_base + skip, pieces[i].iov_len - skip);
	}
}

void connection_send(struct connection *connection, int type, int channel, uint32_t stream,
		     const struct iovec *pieces, int count)
{
	uint8_t header[FRAME_HEADER] = { 0 };
	struct iovec all[4] = { { header, sizeof header } };
	size_t length = 0;

	if (connection->closed)
		return;
	for (int i = 0; i < count; i++) {
		all[i + 1] = pieces[i];
		length += pieces[i].iov_len;
	}
	store_u32(header, length);
	header[4] = type;
	header[5] = channel;
	store_u32(header + 8, stream);
	ssize_t sent = connection->output.length ? 0 : send_now(connection, all, count + 1);
	if (sent >= 0)
		queue_rest(connection, all, count + 1, sent);
	if (sent < 0 || connection->output.failed)
		connection_close(connection);
	else if (connection->output.length)
		update_interest(connection);
}

static void flush_output(struct connection *connection)
{
	struct buffer *output = &connection->output;
	struct iovec piece = { buffer_bytes(output), output->length };
	ssize_t sent = send_now(connection, &piece, 1);

	if (sent < 0) {
		connection_close(connection);
		return;
	}
	buffer_consume(output, sent);
	if (output->length < QUEUE_LIMIT / 2)
		unpark(connection);
	update_interest(connection);
}

static struct stream *find_stream(struct connection *connection, uint32_t id)
{
	list_for_each(node, &connection->streams[id % BUCKETS]) {
		struct stream *stream = container_of(node, struct stream, in_connection);
		if (stream->id == id)
			return stream;
	}
	return NULL;
}

static bool open_stream(struct connection *connection, uint32_t id, const struct fields *fields)
{
	if (!id || !fields_valid(fields) || find_stream(connection, id) || connection->stream_count >= MAX_STREAMS)
		return false;
	struct stream *stream = stream_new(connection, id);
	if (!stream)
		return false;
	list_append(&connection->streams[id % BUCKETS], &stream->in_connection);
	connection->stream_count++;
	dispatch(stream, fields);
	return true;
}

/* Collects the pieces of a split OPEN. False if they are malformed. */
static bool handle_open(struct connection *connection, const struct frame *frame)
{
	struct buffer *collected = &connection->open_fields;
	struct fields fields = { frame->payload, frame->length };

	if (connection->open_stream && connection->open_stream != frame->stream)
		return false;
	if (!connection->open_stream && !(frame->flags & OPEN_MORE))
		return open_stream(connection, frame->stream, &fields);
	if (collected->length + frame->length > OPEN_MAX_BYTES ||
	    !buffer_append(collected, frame->payload, frame->length))
		return false;
	connection->open_stream = frame->stream;
	if (frame->flags & OPEN_MORE)
		return frame->stream != 0;
	fields = (struct fields){ buffer_bytes(collected), collected->length };
	bool opened = open_stream(connection, frame->stream, &fields);
	connection->open_stream = 0;
	buffer_free(collected);
	return opened;
}

static bool handle_data(struct stream *stream, const struct frame *frame)
{
	if (frame->channel != CHANNEL_IN || frame->length > stream->receive_window)
		return false;
	stream->receive_window -= frame->length;
	if (stream->ops && stream->ops->data && frame->length)
		stream->ops->data(stream, frame->payload, frame->length);
	return true;
}

static bool handle_window(struct stream *stream, const struct frame *frame)
{
	if (frame->length != 4 || frame->channel >= CHANNELS)
		return false;
	uint32_t credit = load_u32(frame->payload);
	int64_t *window = &stream->send_window[frame->channel];
	if (*window > INT32_MAX)
		return true;
	*window += credit;
	if (stream->ops && stream->ops->credit)
		stream->ops->credit(stream, frame->channel, credit);
	stream_wake(stream);
	return true;
}

static bool handle_end(struct stream *stream, const struct frame *frame)
{
	struct fields fields = { frame->payload, frame->length };

	if (frame->channel != CHANNEL_IN || !fields_valid(&fields))
		return false;
	if (stream->ops && stream->ops->end)
		stream->ops->end(stream, &fields);
	return true;
}

static bool handle_stream_frame(struct connection *connection, const struct frame *frame)
{
	struct stream *stream = find_stream(connection, frame->stream);

	/* The host may not know yet that the stream is over. */
	if (!stream)
		return frame->stream != 0;
	switch (frame->type) {
	case FRAME_DATA:
		return handle_data(stream, frame);
	case FRAME_WINDOW:
		return handle_window(stream, frame);
	case FRAME_END:
		return handle_end(stream, frame);
	default:
		stream_drop(stream);
		return true;
	}
}

static bool handle_hello(struct connection *connection, const struct frame *frame)
{
	struct fields fields = { frame->payload, frame->length };

	if (connection->greeted || !fields_valid(&fields))
		return false;
	connection->greeted = true;
	return fields_int(&fields, KEY_VERSION, 0) == PROTOCOL_VERSION;
}

/* False ends the connection. */
static bool handle_frame(struct connection *connection, const struct frame *frame)
{
	struct iovec echo = { (void *)frame->payload, frame->length };

	if (frame->type == FRAME_HELLO)
		return handle_hello(connection, frame);
	if (!connection->greeted)
		return false;
	switch (frame->type) {
	case FRAME_OPEN:
		return handle_open(connection, frame);
	case FRAME_DATA:
	case FRAME_WINDOW:
	case FRAME_END:
	case FRAME_CANCEL:
		return handle_stream_frame(connection, frame);
	case FRAME_PING:
		connection_send(connection, FRAME_PONG, frame->channel, frame->stream, &echo, 1);
		return true;
	case FRAME_PONG:
		return true;
	default:
		return false;
	}
}

/* The frame at `bytes`: 1 if it is whole, 0 if more must come, -1 if it is too long. */
static int parse_frame(const uint8_t *bytes, size_t length, struct frame *frame)
{
	if (length < FRAME_HEADER)
		return 0;
	frame->length = load_u32(bytes);
	frame->type = bytes[4];
	frame->channel = bytes[5];
	frame->flags = load_u16(bytes + 6);
	frame->stream = load_u32(bytes + 8);
	frame->payload = bytes + FRAME_HEADER;
	if (frame->length > FRAME_MAX)
		return -1;
	return length - FRAME_HEADER >= frame->length;
}

static void handle_input(struct connection *connection)
{
	size_t used = 0;
	struct frame frame;

	for (;;) {
		int whole = parse_frame(connection->input + used, connection->input_length - used, &frame);
		if (whole < 0 || (whole && !handle_frame(connection, &frame))) {
			connection_close(connection);
			return;
		}
		if (connection->closed)
			return;
		if (!whole)
			break;
		used += FRAME_HEADER + frame.length;
	}
	connection->input_length -= used;
	memmove(connection->input, connection->input + used, connection->input_length);
}

static void connection_ready(struct source *source, uint32_t events)
{
	struct connection *connection = container_of(source, struct connection, source);

	if (events & EPOLLOUT)
		flush_output(connection);
	if (connection->closed || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	ssize_t got = recv(source->fd, connection->input + connection->input_length,
			   RECEIVE_BYTES - connection->input_length, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		connection_close(connection);
		return;
	}
	connection->input_length += got;
	handle_input(connection);
}

static void send_hello(struct connection *connection)
{
	autobuffer struct buffer fields = { 0 };

	put_int(&fields, KEY_VERSION, PROTOCOL_VERSION);
	put_int(&fields, KEY_MAX_FRAME, FRAME_MAX);
	put_int(&fields, KEY_WINDOW, WINDOW_START);
	put_int(&fields, KEY_MAX_STREAMS, MAX_STREAMS);
	put_int(&fields, KEY_MAX_CONNECTIONS, MAX_CONNECTIONS);
	struct iovec piece = { buffer_bytes(&fields), fields.length };
	connection_send(connection, FRAME_HELLO, 0, 0, &piece, fields.failed ? 0 : 1);
}

static void add_connection(int fd)
{
	struct connection *connection = calloc(1, sizeof *connection);

	if (connection)
		connection->input = malloc(RECEIVE_BYTES);
	if (!connection || !connection->input) {
		free(connection);
		close(fd);
		return;
	}
	source_init(&connection->source, fd, connection_ready);
	task_init(&connection->close_later, finish_close);
	list_init(&connection->parked);
	for (int i = 0; i < BUCKETS; i++)
		list_init(&connection->streams[i]);
	list_append(&connections, &connection->link);
	connection_count++;
	update_interest(connection);
	send_hello(connection);
}

static void accept_ready(struct source *source, uint32_t events)
{
	(void)events;
	int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		add_connection(fd);
	/* Above the limit, and when descriptors ran out, callers wait in the backlog. */
	if (connection_count >= MAX_CONNECTIONS || (fd < 0 && (errno == EMFILE || errno == ENFILE)))
		source_watch(source, connection_count ? 0 : EPOLLIN);
}

int connections_listen(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	if (unlink(path) < 0 && errno != ENOENT)
		return -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	source_init(&listener, fd, accept_ready);
	mode_t before = umask(0177);
	int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
	umask(before);
	if (bound < 0 || listen(fd, MAX_CONNECTIONS) < 0)
		return -1;
	return source_watch(&listener, EPOLLIN);
}
