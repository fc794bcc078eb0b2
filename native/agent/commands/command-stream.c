#define _GNU_SOURCE
#include "command-stream.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "exec-process.h"
#include "exec-shell.h"
#include "records.h"
#include "stream.h"
#include "util.h"

#define MAX_COMMANDS 2048
#define DEFAULT_GRACE_MS 2000

/* One frame of output: what a pipe holds by default. */
#define SLICE 65536

/* A listing shows the beginning of a long command; records are bounded. */
#define LISTED_TEXT 4096

/* --- the stream that holds a command --- */

static void put_outcome(struct buffer *fields, const struct command *command)
{
	if (command->signal)
		put_int(fields, KEY_SIGNAL, command->signal);
	else
		put_int(fields, KEY_EXIT_CODE, command->exit_code);
}

static void send_outcome(struct command *command)
{
	autobuffer struct buffer fields = { 0 };

	put_outcome(&fields, command);
	put_int(&fields, KEY_TIMED_OUT, command->timed_out);
	put_int(&fields, KEY_SHELL_GONE, command->shell_gone);
	put_int(&fields, KEY_DURATION_US, command->duration_us);
	put_int(&fields, KEY_STDOUT_OFFSET, command->out.ring.end);
	put_int(&fields, KEY_STDERR_OFFSET, command->err.ring.end);
	stream_result(command->holder, &fields);
}

/* Sends one slice of an output. True if another could follow at once. */
static bool send_slice(struct stream *stream, int channel, const struct output *output, uint64_t *sent)
{
	struct iovec view[2];
	size_t length = stream_allowance(stream, channel, min_size(output->ring.end - *sent, SLICE));

	if (!length)
		return false;
	ring_view(&output->ring, *sent, length, view);
	stream_send(stream, channel, view, view[1].iov_len ? 2 : 1);
	*sent += length;
	return *sent < output->ring.end;
}

static void pump(struct stream *stream)
{
	struct command *command = stream->context;
	bool more = send_slice(stream, CHANNEL_OUT, &command->out, &command->out_sent);

	more |= send_slice(stream, CHANNEL_ERR, &command->err, &command->err_sent);
	if (command->state == COMMAND_FINISHED && command->out_sent == command->out.ring.end &&
	    command->err_sent == command->err.ring.end)
		send_outcome(command);
	else if (more)
		stream_wake(stream);
}

static void input_data(struct stream *stream, const uint8_t *bytes, size_t length)
{
	struct command *command = stream->context;

	command->holder_input += length;
	/* Input for a command that takes none, or no more, is dropped. */
	if ((command->state == COMMAND_RUNNING && command->input.source.fd < 0) || command->state > COMMAND_RUNNING)
		command_consumed(command, length);
	else if (input_add(&command->input, bytes, length) < 0)
		stream_fail(stream, errno, "stdin of '%s': %s", command->id, strerror(errno));
}

static void input_ended(struct stream *stream, const struct fields *fields)
{
	struct command *command = stream->context;

	(void)fields;
	input_end(&command->input);
}

static void credit(struct stream *stream, int channel, uint32_t length)
{
	struct command *command = stream->context;
	struct output *output = channel == CHANNEL_OUT ? &command->out : &command->err;
	uint64_t sent = channel == CHANNEL_OUT ? command->out_sent : command->err_sent;

	if (channel == CHANNEL_IN)
		return;
	output->ring.keep_from += length;
	if (output->ring.keep_from > sent)
		output->ring.keep_from = sent;
	output_resume(output);
}

static void closed(struct stream *stream)
{
	struct command *command = stream->context;

	command->holder = NULL;
	command->holder_input = 0;
}

static const struct stream_ops ops = {
	.pump = pump, .data = input_data, .end = input_ended, .credit = credit, .closed = closed,
};

/* Puts a reader at `wanted`, or at the oldest byte held. Bytes from there on are
 * kept until the host returns credit for them. */
static uint64_t place_reader(struct output *output, int64_t wanted)
{
	struct ring *ring = &output->ring;
	uint64_t place = wanted < 0 ? 0 : wanted;

	if (place < ring->start)
		place = ring->start;
	if (place > ring->end)
		place = ring->end;
	ring->keep_from = place;
	output_resume(output);
	return place;
}

static void hold(struct command *command, struct stream *stream, const struct fields *fields)
{
	if (command->holder)
		stream_fail(command->holder, ECONNABORTED, "another stream attached to '%s'", command->id);
	command->holder = stream;
	command->holder_input = 0;
	stream_adopt(stream, &ops, command);
	command->out_sent = place_reader(&command->out, fields_int(fields, KEY_STDOUT_OFFSET, 0));
	command->err_sent = place_reader(&command->err, fields_int(fields, KEY_STDERR_OFFSET, 0));
}

static void attach(struct command *command, struct stream *stream, const struct fields *fields)
{
	autobuffer struct buffer event = { 0 };

	hold(command, stream, fields);
	put_int(&event, KEY_STDOUT_OFFSET, command->out_sent);
	put_int(&event, KEY_STDERR_OFFSET, command->err_sent);
	put_int(&event, KEY_OFFSET, command->input.accepted);
	put_int(&event, KEY_RUNNING, command->state < COMMAND_ENDING);
	if (command->pid)
		put_int(&event, KEY_PID, command->pid);
	stream_event(stream, &event);
	stream_wake(stream);
}

void command_announce(struct command *command)
{
	autobuffer struct buffer event = { 0 };

	if (!command->holder)
		return;
	put_int(&event, KEY_PID, command->pid);
	stream_event(command->holder, &event);
}

void command_wake(struct command *command)
{
	if (command->holder)
		stream_wake(command->holder);
}

/* Credit is due for the holder's own bytes; those of an earlier stream, which
 * come first, went without. */
void command_consumed(struct command *command, size_t length)
{
	size_t left = command->input.waiting.length;
	size_t own = left < command->holder_input ? command->holder_input - left : 0;

	(void)length;
	command->holder_input -= own;
	if (command->holder && own)
		stream_consumed(command->holder, own);
}

void command_abandon(struct command *command, int error, const char *message)
{
	if (command->holder)
		stream_fail(command->holder, error, "%s", message);
	command_free(command);
}

/* --- operations --- */

/* The command this stream names, or NULL after an error was sent. */
static struct command *named_command(struct stream *stream, const struct fields *fields)
{
	autofree char *id = fields_string(fields, KEY_ID);
	struct command *command = id ? command_find(id) : NULL;

	if (!command)
		stream_fail(stream, ENOENT, "no command '%s' is known", id ? id : "");
	return command;
}

static int command_text(struct command *command, const struct fields *fields)
{
	command->text = fields_string(fields, KEY_COMMAND);
	if (!command->text && !errno)
		command->text = fields_string(fields, KEY_ARGV);
	if (!command->text && !errno)
		errno = EINVAL;
	return command->text ? 0 : -1;
}

/* Once it runs, only listings need the text. */
static void shorten(struct command *command)
{
	if (strlen(command->text) <= LISTED_TEXT)
		return;
	command->text[LISTED_TEXT] = 0;
	char *shorter = realloc(command->text, LISTED_TEXT + 1);
	if (shorter)
		command->text = shorter;
}

static void start(struct stream *stream, const struct fields *fields, const char *id)
{
	char message[512];
	bool in_shell = fields_int(fields, KEY_MODE_EXEC, MODE_PROCESS) == MODE_SHELL;
	struct command *command = command_new(id, in_shell ? MODE_SHELL : MODE_PROCESS);

	if (!command) {
		stream_fail(stream, ENOMEM, "cannot hold another command");
		return;
	}
	command_register(command);
	hold(command, stream, fields);
	command->timeout_ms = fields_int(fields, KEY_TIMEOUT_MS, 0);
	command->grace_ms = fields_int(fields, KEY_GRACE_MS, DEFAULT_GRACE_MS);
	if (command_text(command, fields) < 0) {
		command_abandon(command, errno, errno == EINVAL ? "a command or argv without NUL is needed" : strerror(errno));
		return;
	}
	int (*run)(struct command *, const struct fields *, char *, size_t) = in_shell ? shell_start : process_start;
	if (run(command, fields, message, sizeof message) < 0)
		command_abandon(command, errno, message);
	else
		shorten(command);
}

void op_exec_start(struct stream *stream, const struct fields *fields)
{
	autofree char *id = fields_string(fields, KEY_ID);
	autofree char *cwd = fields_string(fields, KEY_CWD);
	struct command *known = id ? command_find(id) : NULL;

	if (!id || !name_valid(id))
		stream_fail(stream, EINVAL, "id '%.80s' is not 1 to 64 of A-Z a-z 0-9 _ -", id ? id : "");
	else if (known)
		attach(known, stream, fields);
	else if (fields_has(fields, KEY_CWD) && (!cwd || *cwd != '/'))
		stream_fail(stream, EINVAL, "cwd '%.400s' is not an absolute path", cwd ? cwd : "");
	else if (commands_running() >= MAX_COMMANDS)
		stream_fail(stream, EAGAIN, "%d commands are running", MAX_COMMANDS);
	else
		start(stream, fields, id);
}

void op_exec_attach(struct stream *stream, const struct fields *fields)
{
	struct command *command = named_command(stream, fields);

	if (command)
		attach(command, stream, fields);
}

void op_exec_signal(struct stream *stream, const struct fields *fields)
{
	struct command *command = named_command(stream, fields);
	int64_t signal = fields_int(fields, KEY_SIGNAL, 0);

	if (!command)
		return;
	if (signal < 1 || signal >= NSIG)
		stream_fail(stream, EINVAL, "signal %lld does not exist", (long long)signal);
	else if (!command_signal(command, signal))
		stream_fail(stream, ESRCH, "command '%s' has no process to signal", command->id);
	else
		stream_done(stream);
}

void op_exec_list(struct stream *stream, const struct fields *fields)
{
	autobuffer struct buffer records = { 0 };

	(void)fields;
	list_for_each(node, &commands) {
		struct command *command = container_of(node, struct command, link);
		size_t record = record_begin(&records);
		put_string(&records, KEY_ID, command->id);
		put_int(&records, KEY_MODE_EXEC, command->mode);
		if (command->shell)
			put_string(&records, KEY_SHELL, command->shell);
		put_string(&records, KEY_COMMAND, command->text);
		put_int(&records, KEY_PID, command->pid);
		put_int(&records, KEY_RUNNING, command->state < COMMAND_ENDING);
		if (command->state >= COMMAND_ENDING)
			put_outcome(&records, command);
		record_end(&records, record);
	}
	records_send(stream, &records);
}

void op_exec_forget(struct stream *stream, const struct fields *fields)
{
	struct command *command = named_command(stream, fields);

	if (!command)
		return;
	if (command->state < COMMAND_ENDING) {
		stream_fail(stream, EBUSY, "command '%s' is still running", command->id);
		return;
	}
	if (command->holder)
		stream_fail(command->holder, ECANCELED, "command '%s' was forgotten", command->id);
	command_free(command);
	stream_done(stream);
}
