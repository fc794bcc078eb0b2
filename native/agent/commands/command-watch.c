#define _GNU_SOURCE
#include "command-watch.h"

#include <errno.h>
#include <stdlib.h>

#include "command-stream.h"
#include "command.h"
#include "stream.h"
#include "util.h"

struct watcher {
  struct list link; /* in command->watchers */
  struct command *command;
  struct stream *stream;
  uint64_t out_sent, err_sent;
};

/* Nothing is kept for a watcher, so the command may have gone on without it. */
static bool has_lost(const struct ring *ring, uint64_t sent) { return sent < ring->start; }

static void pump(struct stream *stream) {
  struct watcher *watcher = stream->context;
  struct command *command = watcher->command;
  if (has_lost(&command->out.ring, watcher->out_sent) || has_lost(&command->err.ring, watcher->err_sent)) {
    stream_refuse(stream, EOVERFLOW, "command '%s' prints faster than this is read", command->id);
    return;
  }
  bool more = command_send_slice(stream, CHANNEL_OUT, &command->out, &watcher->out_sent);
  more |= command_send_slice(stream, CHANNEL_ERR, &command->err, &watcher->err_sent);
  if (command_is_sent(command, watcher->out_sent, watcher->err_sent))
    command_send_outcome(command, stream);
  else if (more)
    stream_wake(stream);
}

static void closed(struct stream *stream) {
  struct watcher *watcher = stream->context;
  list_remove(&watcher->link);
  free(watcher);
}

static const struct stream_ops ops = {.pump = pump, .closed = closed};

static uint64_t first_byte(const struct ring *ring, int64_t wanted) {
  uint64_t place = wanted < 0 ? 0 : wanted;
  if (place < ring->start) return ring->start;
  return place > ring->end ? ring->end : place;
}

void command_watch(struct command *command, struct stream *stream, const struct fields *fields) {
  struct watcher *watcher = calloc(1, sizeof *watcher);
  if (!watcher) {
    stream_fail_call(stream, ENOMEM, "calloc of a watcher");
    return;
  }
  watcher->command = command;
  watcher->stream = stream;
  watcher->out_sent = first_byte(&command->out.ring, fields_int(fields, KEY_STDOUT_OFFSET, 0));
  watcher->err_sent = first_byte(&command->err.ring, fields_int(fields, KEY_STDERR_OFFSET, 0));
  list_append(&command->watchers, &watcher->link);
  stream_adopt(stream, &ops, watcher);
  command_send_place(command, stream, watcher->out_sent, watcher->err_sent);
  stream_wake(stream);
}

void command_wake_watchers(struct command *command) {
  list_for_each(node, &command->watchers) stream_wake(container_of(node, struct watcher, link)->stream);
}

void command_end_watchers(struct command *command) {
  while (!list_empty(&command->watchers))
    stream_refuse(container_of(command->watchers.next, struct watcher, link)->stream, ECANCELED,
                  "command '%s' was forgotten", command->id);
}
