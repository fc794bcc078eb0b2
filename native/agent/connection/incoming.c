/* Frames from the host, which are checked and then handed to their stream. */
#define _GNU_SOURCE
#include <string.h>

#include "connection-state.h"
#include "connection.h"
#include "dispatch.h"
#include "fields.h"
#include "stream.h"

struct frame {
  uint32_t length;
  uint8_t type, channel;
  uint16_t flags;
  uint32_t stream;
  const uint8_t *payload;
};

static struct stream *find_stream(struct connection *connection, uint32_t id) {
  list_for_each(node, &connection->streams[id % BUCKETS]) {
    struct stream *stream = container_of(node, struct stream, in_connection);
    if (stream->id == id) return stream;
  }
  return NULL;
}

static bool open_stream(struct connection *connection, uint32_t id, const struct fields *fields) {
  if (!id || !fields_valid(fields) || find_stream(connection, id) || connection->stream_count >= MAX_STREAMS)
    return false;
  struct stream *stream = stream_new(connection, id);
  if (!stream) return false;
  list_append(&connection->streams[id % BUCKETS], &stream->in_connection);
  connection->stream_count++;
  dispatch(stream, fields);
  return true;
}

/* Collects the parts of an OPEN that is split into several frames. False if it is malformed. */
static bool handle_open(struct connection *connection, const struct frame *frame) {
  struct buffer *collected = &connection->open_fields;
  struct fields fields = {frame->payload, frame->length};
  if (connection->open_stream && connection->open_stream != frame->stream) return false;
  if (!connection->open_stream && !(frame->flags & OPEN_MORE)) return open_stream(connection, frame->stream, &fields);
  if (collected->length + frame->length > OPEN_MAX_BYTES || !buffer_append(collected, frame->payload, frame->length))
    return false;
  connection->open_stream = frame->stream;
  if (frame->flags & OPEN_MORE) return frame->stream != 0;
  fields = (struct fields){buffer_bytes(collected), collected->length};
  bool opened = open_stream(connection, frame->stream, &fields);
  connection->open_stream = 0;
  buffer_free(collected);
  return opened;
}

static bool handle_data(struct stream *stream, const struct frame *frame) {
  if (frame->channel != CHANNEL_IN || frame->length > stream->receive_window) return false;
  stream->receive_window -= frame->length;
  if (stream->ops && stream->ops->data && frame->length) stream->ops->data(stream, frame->payload, frame->length);
  return true;
}

static bool handle_window(struct stream *stream, const struct frame *frame) {
  if (frame->length != 4 || frame->channel >= CHANNELS) return false;
  uint32_t credit = load_u32(frame->payload);
  int64_t *window = &stream->send_window[frame->channel];
  if (*window > INT32_MAX) return true;
  *window += credit;
  if (stream->ops && stream->ops->credit) stream->ops->credit(stream, frame->channel, credit);
  stream_wake(stream);
  return true;
}

static bool handle_end(struct stream *stream, const struct frame *frame) {
  struct fields fields = {frame->payload, frame->length};
  if (frame->channel != CHANNEL_IN || !fields_valid(&fields)) return false;
  if (stream->ops && stream->ops->end) stream->ops->end(stream, &fields);
  return true;
}

static bool handle_stream_frame(struct connection *connection, const struct frame *frame) {
  struct stream *stream = find_stream(connection, frame->stream);
  /* The host may not know yet that the stream has ended. */
  if (!stream) return frame->stream != 0;
  switch (frame->type) {
    case FRAME_DATA: return handle_data(stream, frame);
    case FRAME_WINDOW: return handle_window(stream, frame);
    case FRAME_END: return handle_end(stream, frame);
    default: stream_drop(stream); return true;
  }
}

static bool handle_hello(struct connection *connection, const struct frame *frame) {
  struct fields fields = {frame->payload, frame->length};
  if (connection->greeted || !fields_valid(&fields)) return false;
  connection->greeted = true;
  return fields_int(&fields, KEY_VERSION, 0) == PROTOCOL_VERSION;
}

/* False if the connection must end. */
static bool handle_frame(struct connection *connection, const struct frame *frame) {
  struct iovec echo = {(void *)frame->payload, frame->length};
  if (frame->type == FRAME_HELLO) return handle_hello(connection, frame);
  if (!connection->greeted) return false;
  switch (frame->type) {
    case FRAME_OPEN: return handle_open(connection, frame);
    case FRAME_DATA:
    case FRAME_WINDOW:
    case FRAME_END:
    case FRAME_CANCEL: return handle_stream_frame(connection, frame);
    case FRAME_PING: connection_send(connection, FRAME_PONG, frame->channel, frame->stream, &echo, 1); return true;
    case FRAME_PONG: return true;
    default: return false;
  }
}

/* Parses the frame at BYTES. 1 if it is complete, 0 if more has to come, -1 if it is too long. */
static int parse_frame(const uint8_t *bytes, size_t length, struct frame *frame) {
  if (length < FRAME_HEADER) return 0;
  frame->length = load_u32(bytes);
  frame->type = bytes[4];
  frame->channel = bytes[5];
  frame->flags = load_u16(bytes + 6);
  frame->stream = load_u32(bytes + 8);
  frame->payload = bytes + FRAME_HEADER;
  if (frame->length > FRAME_MAX) return -1;
  return length - FRAME_HEADER >= frame->length;
}

void incoming_handle(struct connection *connection) {
  size_t used = 0;
  struct frame frame;
  for (;;) {
    int whole = parse_frame(connection->input + used, connection->input_length - used, &frame);
    if (whole < 0 || (whole && !handle_frame(connection, &frame))) {
      connection_close(connection);
      return;
    }
    if (connection->closed) return;
    if (!whole) break;
    used += FRAME_HEADER + frame.length;
  }
  connection->input_length -= used;
  memmove(connection->input, connection->input + used, connection->input_length);
}
