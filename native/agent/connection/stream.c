#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "util.h"

/* Credit is returned for each quarter of the window. */
#define CREDIT_BATCH (WINDOW_START / 4)

static void run_pump(struct task *task) {
  struct stream *stream = container_of(task, struct stream, task);
  if (!connection_has_room(stream->connection)) {
    connection_park(stream->connection, &stream->parked);
    return;
  }
  if (stream->ops && stream->ops->pump) stream->ops->pump(stream);
}

struct stream *stream_new(struct connection *connection, uint32_t id) {
  struct stream *stream = calloc(1, sizeof *stream);
  if (!stream) return NULL;
  stream->id = id;
  stream->connection = connection;
  list_init(&stream->in_connection);
  list_init(&stream->parked);
  task_init(&stream->task, run_pump);
  stream->receive_window = WINDOW_START;
  for (int i = 0; i < CHANNELS; i++) stream->send_window[i] = WINDOW_START;
  return stream;
}

void stream_adopt(struct stream *stream, const struct stream_ops *ops, void *context) {
  stream->ops = ops;
  stream->context = context;
}

void stream_wake(struct stream *stream) {
  if (list_empty(&stream->parked)) task_schedule(&stream->task);
}

size_t stream_allowance(struct stream *stream, int channel, size_t wanted) {
  int64_t window = stream->send_window[channel];
  if (window <= 0 || !connection_has_room(stream->connection)) return 0;
  return min_size(min_size(wanted, window), FRAME_MAX);
}

void stream_send(struct stream *stream, int channel, const struct iovec *pieces, int count) {
  for (int i = 0; i < count; i++) stream->send_window[channel] -= pieces[i].iov_len;
  connection_send(stream->connection, FRAME_DATA, channel, stream->id, pieces, count);
}

static void send_fields(struct stream *stream, int type, struct buffer *fields) {
  struct iovec piece = {buffer_bytes(fields), fields->length};
  /* Without memory for the answer, the connection ends, and the host can ask again. */
  if (fields->failed)
    connection_close(stream->connection);
  else
    connection_send(stream->connection, type, 0, stream->id, &piece, 1);
}

void stream_event(struct stream *stream, struct buffer *fields) { send_fields(stream, FRAME_EVENT, fields); }

void stream_end(struct stream *stream, int channel) {
  connection_send(stream->connection, FRAME_END, channel, stream->id, NULL, 0);
}

void stream_consumed(struct stream *stream, uint32_t length) {
  stream->credit_due += length;
  if (stream->credit_due < CREDIT_BATCH && stream->receive_window > WINDOW_START / 2) return;
  uint8_t credit[4];
  store_u32(credit, stream->credit_due);
  stream->receive_window += stream->credit_due;
  stream->credit_due = 0;
  struct iovec piece = {credit, sizeof credit};
  connection_send(stream->connection, FRAME_WINDOW, CHANNEL_IN, stream->id, &piece, 1);
}

void stream_drop(struct stream *stream) {
  const struct stream_ops *ops = stream->ops;
  stream->ops = NULL;
  if (ops && ops->closed) ops->closed(stream);
  task_cancel(&stream->task);
  list_remove(&stream->parked);
  connection_forget_stream(stream->connection, stream);
  free(stream);
}

void stream_result(struct stream *stream, struct buffer *fields) {
  send_fields(stream, FRAME_RESULT, fields);
  stream_drop(stream);
}

void stream_done(struct stream *stream) {
  struct buffer nothing = {0};
  stream_result(stream, &nothing);
}

void stream_fail(struct stream *stream, const struct error *error) {
  autobuffer struct buffer fields = {0};
  put_int(&fields, KEY_ERRNO, error->code);
  put_string(&fields, KEY_MESSAGE, error->text);
  send_fields(stream, FRAME_ERROR, &fields);
  stream_drop(stream);
}

void stream_fail_call(struct stream *stream, int code, const char *template, ...) {
  struct error error;
  va_list arguments;
  va_start(arguments, template);
  error_set_list(&error, code, template, arguments);
  va_end(arguments);
  stream_fail(stream, &error);
}

void stream_refuse(struct stream *stream, int code, const char *template, ...) {
  struct error error;
  va_list arguments;
  va_start(arguments, template);
  error_refuse_list(&error, code, template, arguments);
  va_end(arguments);
  stream_fail(stream, &error);
}
