/* One command's turn in a shell: its pipes, its lines, its report. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "shell-script.h"
#include "shell.h"
#include "util.h"

/* A pipe whose reading end the agent has without waiting. 0, or -1 with errno. */
static int make_pipe(int *reader, int *writer)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	*reader = ends[0];
	*writer = ends[1];
	return 0;
}

static int make_output(struct output *output, int *writer)
{
	int reader;

	return make_pipe(&reader, writer) < 0 ? -1 : output_open(output, reader);
}

static int make_input(struct shell_call *call)
{
	int writer;

	if (make_pipe(&call->stdin_reader, &writer) < 0)
		return -1;
	call->command->input.held_open = true;
	input_open(&call->command->input, writer);
	return 0;
}

static void status_ready(struct source *source, uint32_t events)
{
	struct shell_call *call = container_of(source, struct shell_call, status);
	int wait_status;

	(void)events;
	if (shell_call_reported(call, &wait_status))
		shell_call_finished(call->shell, wait_status);
}

static int make_status(struct shell_call *call)
{
	int reader;

	if (make_pipe(&reader, &call->status_writer) < 0)
		return -1;
	source_init(&call->status, reader, status_ready);
	return source_watch(&call->status, EPOLLIN);
}

/* What an earlier command did with stty must not matter to this one. The master
 * sets the modes of the slave. */
static void reset_terminal(int master)
{
	struct termios modes;

	if (tcgetattr(master, &modes) < 0)
		return;
	modes.c_iflag = ICRNL | IXON | IUTF8;
	modes.c_oflag = OPOST | ONLCR;
	modes.c_cflag = CS8 | CREAD | HUPCL | B38400;
	modes.c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE;
	tcsetattr(master, TCSANOW, &modes);
}

int shell_call_open(struct shell_call *call, char *message, size_t message_size)
{
	struct command *command = call->command;

	if (make_output(&command->out, &call->out_writer) < 0 || make_output(&command->err, &call->err_writer) < 0 ||
	    make_status(call) < 0 || (call->with_stdin && make_input(call) < 0)) {
		int failure = errno;
		snprintf(message, message_size, "cannot make the pipes of a command: %s", strerror(failure));
		errno = failure;
		return -1;
	}
	return 0;
}

int shell_call_send(struct shell_call *call, char *message, size_t message_size)
{
	autobuffer struct buffer lines = { 0 };

	script_command(&lines, call);
	script_report(&lines, call);
	if (lines.failed) {
		snprintf(message, message_size, "cannot hold a command of %zu bytes", strlen(call->text));
		errno = ENOMEM;
		return -1;
	}
	reset_terminal(call->shell->terminal.fd);
	shell_feed(call->shell, &lines);
	return 0;
}

static void begun(struct shell_call *call)
{
	if (call->begun)
		return;
	call->begun = true;
	/* With its real reader in place, one that leaves is noticed by EPIPE. */
	close_fd(&call->stdin_reader);
	input_release_end(&call->command->input);
	if (call->pending_signal)
		shell_signal(call->command, call->pending_signal);
}

/* bash writes "b\n" when it has begun, then the exit status. The two may come
 * in one read. */
bool shell_call_reported(struct shell_call *call, int *wait_status)
{
	char report[32] = "";
	ssize_t got = read(call->status.fd, report, sizeof report - 1);
	const char *status = report;

	if (got <= 0)
		return false;
	if (*status == 'b') {
		begun(call);
		status += 2;
	}
	if (!*status)
		return false;
	*wait_status = (atoi(status) & 0xff) << 8;
	return true;
}

void shell_call_end(struct shell_call *call)
{
	source_close(&call->status);
	close_fd(&call->status_writer);
	close_fd(&call->out_writer);
	close_fd(&call->err_writer);
	close_fd(&call->stdin_reader);
}

void shell_call_free(struct shell_call *call)
{
	if (!call)
		return;
	list_remove(&call->link);
	shell_call_end(call);
	free(call->text);
	free(call->cwd);
	free(call->variables);
	free(call);
}
