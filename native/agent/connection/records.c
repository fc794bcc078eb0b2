#define _GNU_SOURCE
#include "records.h"

#include <errno.h>
#include <stdlib.h>

#include "util.h"

void records_flush(struct stream *stream, struct buffer *records) {
  size_t length;
  while ((length = stream_allowance(stream, CHANNEL_OUT, records->length))) {
    struct iovec piece = {buffer_bytes(records), length};
    stream_send(stream, CHANNEL_OUT, &piece, 1);
    buffer_consume(records, length);
  }
}

static void pump(struct stream *stream) {
  struct buffer *records = stream->context;
  records_flush(stream, records);
  if (!records->length)
    stream_done(stream);
  else if (stream->send_window[CHANNEL_OUT] > 0)
    stream_wake(stream);
}

static void closed(struct stream *stream) {
  buffer_free(stream->context);
  free(stream->context);
}

static const struct stream_ops ops = {.pump = pump, .closed = closed};

void records_send(struct stream *stream, struct buffer *records) {
  struct buffer *own = records->failed ? NULL : malloc(sizeof *own);
  if (!own) {
    stream_fail_call(stream, ENOMEM, "malloc of a listing");
    return;
  }
  *own = *records;
  *records = (struct buffer){0};
  stream_adopt(stream, &ops, own);
  stream_wake(stream);
}
