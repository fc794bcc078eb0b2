/* One command's turn in a shell: its FIFOs, its lines, its report. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>

#include "shell-script.h"
#include "shell.h"
#include "util.h"

static char *fifo_path(const struct shell_call *call, const char *suffix)
{
	return format("%s%s", call->stem, suffix);
}

/* Makes <stem><suffix> for the shell's user. NULL with errno. */
static char *make_fifo(const struct shell_call *call, const char *suffix)
{
	autofree char *path = fifo_path(call, suffix);
	const struct user *user = &call->shell->user;

	if (!path || mkfifo(path, 0600) < 0)
		return NULL;
	if (user->uid != 0 && chown(path, user->uid, user->gid) < 0 && errno != EPERM) {
		int failure = errno;
		unlink(path);
		errno = failure;
		return NULL;
	}
	return take_pointer(&path);
}

static void remove_fifo(const struct shell_call *call, const char *suffix)
{
	autofree char *path = fifo_path(call, suffix);

	if (path)
		unlink(path);
}

static int open_reader(const char *path)
{
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static int make_output(const struct shell_call *call, const char *suffix, struct output *output)
{
	char *path = make_fifo(call, suffix);
	int fd = path ? open_reader(path) : -1;

	if (fd < 0) {
		free(path);
		return -1;
	}
	return output_open(output, fd, path);
}

/* A FIFO can be opened for writing only while it has a reader, and bash's open
 * would wait for a writer: the agent holds both ends until bash has opened it. */
static int make_input(struct shell_call *call)
{
	autofree char *path = make_fifo(call, ".0");

	if (!path)
		return -1;
	call->stdin_reader = open_reader(path);
	int writer = call->stdin_reader < 0 ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (writer < 0)
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
	autofree char *path = make_fifo(call, ".s");

	source_init(&call->status, path ? open_reader(path) : -1, status_ready);
	if (call->status.fd < 0)
		return -1;
	/* Edge-triggered: after its first writer left, a FIFO reports a hang-up
	 * for as long as it has none. */
	return source_watch(&call->status, EPOLLIN | EPOLLET);
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

	if (make_output(call, ".1", &command->out) < 0 || make_output(call, ".2", &command->err) < 0 ||
	    make_status(call) < 0 || (call->with_stdin && make_input(call) < 0)) {
		int failure = errno;
		snprintf(message, message_size, "cannot make the FIFOs '%s.*': %s", call->stem, strerror(failure));
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
	close_fd(&call->stdin_reader);
	if (!call->stem)
		return;
	remove_fifo(call, ".s");
	remove_fifo(call, ".0");
	/* One that never came to be opened has nobody else to remove it. */
	if (call->command->out.source.fd < 0)
		remove_fifo(call, ".1");
	if (call->command->err.source.fd < 0)
		remove_fifo(call, ".2");
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
	free(call->stem);
	free(call);
}
