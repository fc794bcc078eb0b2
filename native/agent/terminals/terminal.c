#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "pty.h"
#include "records.h"
#include "stream.h"
#include "terminal-session.h"
#include "util.h"

#define FLAG_START 1
#define SLICE 65536

/* --- a stream that watches a terminal --- */

/* DRAWN is the size that the replay was printed for. */
static void announce(struct viewer *viewer, struct size drawn) {
  struct terminal *terminal = viewer->terminal;
  autobuffer struct buffer event = {0};
  put_int(&event, KEY_REPLAY_BYTES, terminal->ring.end - viewer->sent);
  put_int(&event, KEY_COLS, terminal->size.cols);
  put_int(&event, KEY_ROWS, terminal->size.rows);
  put_int(&event, KEY_DRAWN_COLS, drawn.cols);
  put_int(&event, KEY_DRAWN_ROWS, drawn.rows);
  put_int(&event, KEY_PID, terminal->pid);
  stream_event(viewer->stream, &event);
}

static void send_outcome(struct viewer *viewer) {
  autobuffer struct buffer fields = {0};
  int status = viewer->terminal->wait_status;
  if (WIFSIGNALED(status))
    put_int(&fields, KEY_SIGNAL, WTERMSIG(status));
  else
    put_int(&fields, KEY_EXIT_CODE, WEXITSTATUS(status));
  stream_result(viewer->stream, &fields);
}

static void pump(struct stream *stream) {
  struct viewer *viewer = stream->context;
  const struct ring *ring = &viewer->terminal->ring;
  struct iovec view[2];
  /* The viewer was too slow and has missed output, so it gets a new replay. */
  if (viewer->sent < ring->start && stream_allowance(stream, CHANNEL_OUT, 1)) {
    viewer->sent = ring->start;
    announce(viewer, viewer->terminal->size);
  }
  size_t length =
      viewer->sent < ring->start ? 0 : stream_allowance(stream, CHANNEL_OUT, min_size(ring->end - viewer->sent, SLICE));
  if (length) {
    ring_view(ring, viewer->sent, length, view);
    stream_send(stream, CHANNEL_OUT, view, view[1].iov_len ? 2 : 1);
    viewer->sent += length;
  }
  if (viewer->sent < ring->end) {
    if (length) stream_wake(stream);
  } else if (viewer->terminal->ended) {
    send_outcome(viewer);
  }
}

static void data(struct stream *stream, const uint8_t *bytes, size_t length) {
  struct viewer *viewer = stream->context;
  if (viewer->terminal->ended)
    stream_consumed(stream, length);
  else if (!buffer_append(&viewer->typed, bytes, length))
    stream_fail_call(stream, ENOMEM, "malloc for %zu typed bytes", length);
  else
    terminal_type(viewer->terminal);
}

static void closed(struct stream *stream) {
  struct viewer *viewer = stream->context;
  list_remove(&viewer->link);
  terminal_release(viewer->terminal);
  buffer_free(&viewer->typed);
  free(viewer);
}

static const struct stream_ops ops = {.pump = pump, .data = data, .closed = closed};

static void view(struct stream *stream, struct terminal *terminal, struct size drawn) {
  struct viewer *viewer = calloc(1, sizeof *viewer);
  if (!viewer) {
    stream_fail_call(stream, ENOMEM, "calloc of a viewer of terminal '%s'", terminal->name);
    return;
  }
  viewer->stream = stream;
  viewer->terminal = terminal;
  viewer->sent = terminal->ring.start;
  list_append(&terminal->viewers, &viewer->link);
  stream_adopt(stream, &ops, viewer);
  announce(viewer, drawn);
  stream_wake(stream);
}

/* --- operations --- */

static bool size_valid(const struct fields *fields) {
  int64_t cols = fields_int(fields, KEY_COLS, 80), rows = fields_int(fields, KEY_ROWS, 24);
  return cols >= 1 && cols <= 10000 && rows >= 1 && rows <= 10000;
}

static struct size wanted_size(const struct fields *fields, struct size otherwise) {
  return (struct size){fields_int(fields, KEY_COLS, otherwise.cols), fields_int(fields, KEY_ROWS, otherwise.rows)};
}

void op_term_open(struct stream *stream, const struct fields *fields) {
  autofree char *name = fields_string(fields, KEY_NAME);
  struct error error;
  if (!name || !name_valid(name) || !size_valid(fields)) {
    stream_refuse(stream, EINVAL, "a terminal needs a name of A-Z a-z 0-9 _ - and a size of 1 to 10000");
    return;
  }
  struct terminal *terminal = terminal_find(name);
  bool start = fields_int(fields, KEY_FLAGS, 0) & FLAG_START;
  if (terminal && terminal->ended && start) {
    terminal_hang_up(terminal);
    terminal = NULL;
  }
  if (!terminal && !start) {
    stream_refuse(stream, ENOENT, "no terminal '%s' is open", name);
    return;
  }
  if (!terminal) terminal = terminal_start(name, fields, &error);
  if (!terminal) {
    stream_fail(stream, &error);
    return;
  }
  /* Before anything is shown, so that the program draws for the viewer's size from now on. */
  struct size drawn = terminal->size;
  if (terminal_resize(terminal, wanted_size(fields, drawn)) < 0)
    stream_fail_call(stream, errno, "ioctl TIOCSWINSZ of terminal '%s'", terminal->name);
  else
    view(stream, terminal, drawn);
}

static struct terminal *named_terminal(struct stream *stream, const struct fields *fields) {
  autofree char *name = fields_string(fields, KEY_NAME);
  struct terminal *terminal = name ? terminal_find(name) : NULL;
  if (!terminal) stream_refuse(stream, ENOENT, "no terminal '%.80s' is open", name ? name : "");
  return terminal;
}

void op_term_resize(struct stream *stream, const struct fields *fields) {
  struct terminal *terminal = named_terminal(stream, fields);
  if (!terminal) return;
  if (!size_valid(fields)) {
    stream_refuse(stream, EINVAL, "a terminal has a size of 1 to 10000");
    return;
  }
  if (terminal_resize(terminal, wanted_size(fields, terminal->size)) < 0)
    stream_fail_call(stream, errno, "ioctl TIOCSWINSZ of terminal '%s'", terminal->name);
  else
    stream_done(stream);
}

void op_term_list(struct stream *stream, const struct fields *fields) {
  autobuffer struct buffer records = {0};
  (void)fields;
  list_for_each(node, &terminals) {
    struct terminal *terminal = container_of(node, struct terminal, link);
    size_t record = record_begin(&records);
    put_string(&records, KEY_NAME, terminal->name);
    put_int(&records, KEY_PID, terminal->pid);
    put_int(&records, KEY_COLS, terminal->size.cols);
    put_int(&records, KEY_ROWS, terminal->size.rows);
    put_int(&records, KEY_RUNNING, !terminal->ended);
    record_end(&records, record);
  }
  records_send(stream, &records);
}

void op_term_close(struct stream *stream, const struct fields *fields) {
  struct terminal *terminal = named_terminal(stream, fields);
  if (!terminal) return;
  terminal_hang_up(terminal);
  stream_done(stream);
}
