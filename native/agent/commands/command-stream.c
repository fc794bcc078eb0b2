#define _GNU_SOURCE
#include "command-stream.h"

#include <errno.h>
#include <string.h>

#include "command-watch.h"
#include "command.h"
#include "stream.h"
#include "util.h"

/* One frame of output: the default capacity of a pipe. */
#define SLICE 65536

void command_put_outcome(struct buffer *fields, const struct command *command) {
  if (command->signal)
    put_int(fields, KEY_SIGNAL, command->signal);
  else
    put_int(fields, KEY_EXIT_CODE, command->exit_code);
}

void command_send_outcome(const struct command *command, struct stream *stream) {
  autobuffer struct buffer fields = {0};
  command_put_outcome(&fields, command);
  put_int(&fields, KEY_TIMED_OUT, command->timed_out);
  put_int(&fields, KEY_SHELL_GONE, command->shell_gone);
  put_int(&fields, KEY_DURATION_US, command->duration_us);
  put_int(&fields, KEY_STDOUT_OFFSET, command->out.ring.end);
  put_int(&fields, KEY_STDERR_OFFSET, command->err.ring.end);
  stream_result(stream, &fields);
}

bool command_send_slice(struct stream *stream, int channel, const struct output *output, uint64_t *sent) {
  struct iovec view[2];
  size_t length = stream_allowance(stream, channel, min_size(output->ring.end - *sent, SLICE));
  if (!length) return false;
  ring_view(&output->ring, *sent, length, view);
  stream_send(stream, channel, view, view[1].iov_len ? 2 : 1);
  *sent += length;
  return *sent < output->ring.end;
}

bool command_is_sent(const struct command *command, uint64_t out_sent, uint64_t err_sent) {
  return command->state == COMMAND_FINISHED && out_sent == command->out.ring.end && err_sent == command->err.ring.end;
}

static void pump(struct stream *stream) {
  struct command *command = stream->context;
  bool more = command_send_slice(stream, CHANNEL_OUT, &command->out, &command->out_sent);
  more |= command_send_slice(stream, CHANNEL_ERR, &command->err, &command->err_sent);
  if (command_is_sent(command, command->out_sent, command->err_sent))
    command_send_outcome(command, stream);
  else if (more)
    stream_wake(stream);
}

static void input_data(struct stream *stream, const uint8_t *bytes, size_t length) {
  struct command *command = stream->context;
  command->holder_input += length;
  /* A command that takes no input, or no more, gets none. */
  if ((command->state == COMMAND_RUNNING && command->input.source.fd < 0) || command->state > COMMAND_RUNNING)
    command_consumed(command, length);
  else if (input_add(&command->input, bytes, length) < 0)
    stream_fail_call(stream, errno, "stdin of command '%s'", command->id);
}

static void input_ended(struct stream *stream, const struct fields *fields) {
  struct command *command = stream->context;
  (void)fields;
  input_end(&command->input);
}

static void credit(struct stream *stream, int channel, uint32_t length) {
  struct command *command = stream->context;
  struct output *output = channel == CHANNEL_OUT ? &command->out : &command->err;
  uint64_t sent = channel == CHANNEL_OUT ? command->out_sent : command->err_sent;
  if (channel == CHANNEL_IN) return;
  output->ring.keep_from += length;
  if (output->ring.keep_from > sent) output->ring.keep_from = sent;
  output_resume(output);
}

/* A command that was left to itself must not stop because nobody reads what it prints. */
static void set_forgets(struct command *command) {
  bool forgets = command->in_copy && !command->holder;
  output_set_forgets(&command->out, forgets);
  output_set_forgets(&command->err, forgets);
}

static void closed(struct stream *stream) {
  struct command *command = stream->context;
  command->holder = NULL;
  command->holder_input = 0;
  set_forgets(command);
}

static const struct stream_ops ops = {
    .pump = pump,
    .data = input_data,
    .end = input_ended,
    .credit = credit,
    .closed = closed,
};

/* Where a reader begins that asked for WANTED: there, or at the oldest byte that is left. Bytes from there on are kept
 * until the host returns credit for them. */
static uint64_t place_reader(struct output *output, int64_t wanted) {
  struct ring *ring = &output->ring;
  uint64_t place = wanted < 0 ? 0 : wanted;
  if (place < ring->start) place = ring->start;
  if (place > ring->end) place = ring->end;
  ring->keep_from = place;
  output_resume(output);
  return place;
}

void command_hold(struct command *command, struct stream *stream, const struct fields *fields) {
  if (command->holder)
    stream_refuse(command->holder, ECONNABORTED, "another stream attached to command '%s'", command->id);
  command->holder = stream;
  command->holder_input = 0;
  set_forgets(command);
  stream_adopt(stream, &ops, command);
  command->out_sent = place_reader(&command->out, fields_int(fields, KEY_STDOUT_OFFSET, 0));
  command->err_sent = place_reader(&command->err, fields_int(fields, KEY_STDERR_OFFSET, 0));
}

void command_send_place(const struct command *command, struct stream *stream, uint64_t out_sent, uint64_t err_sent) {
  autobuffer struct buffer event = {0};
  put_int(&event, KEY_STDOUT_OFFSET, out_sent);
  put_int(&event, KEY_STDERR_OFFSET, err_sent);
  put_int(&event, KEY_OFFSET, command->input.accepted);
  put_int(&event, KEY_RUNNING, command->state < COMMAND_ENDING);
  if (command->pid) put_int(&event, KEY_PID, command->pid);
  stream_event(stream, &event);
}

void command_attach(struct command *command, struct stream *stream, const struct fields *fields) {
  command_hold(command, stream, fields);
  command_send_place(command, stream, command->out_sent, command->err_sent);
  stream_wake(stream);
}

void command_announce(struct command *command) {
  autobuffer struct buffer event = {0};
  if (!command->holder) return;
  put_int(&event, KEY_PID, command->pid);
  stream_event(command->holder, &event);
}

void command_wake(struct command *command) {
  if (command->holder) stream_wake(command->holder);
  command_wake_watchers(command);
}

/* Only the holder's own bytes earn it credit. Those of an earlier stream come first and earn none. */
void command_consumed(struct command *command, size_t length) {
  size_t left = command->input.waiting.length;
  size_t own = left < command->holder_input ? command->holder_input - left : 0;
  (void)length;
  command->holder_input -= own;
  if (command->holder && own) stream_consumed(command->holder, own);
}

void command_abandon(struct command *command, const struct error *error) {
  if (command->holder) stream_fail(command->holder, error);
  command_free(command);
}
