#define _GNU_SOURCE
#include "exec-shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment.h"
#include "records.h"
#include "shell.h"
#include "stream.h"
#include "util.h"

#define DEFAULT_SHELL "main"
#define MAX_SHELLS 64
#define MAX_QUEUED 1024

static int refuse(char *message, size_t message_size, int error, const char *why, const char *what)
{
	snprintf(message, message_size, why, what);
	errno = error;
	return -1;
}

static int check_call(const struct shell_call *call, char *message, size_t message_size)
{
	struct stat status;

	const char *invalid = first_invalid_variable(call->variables, NAMES_IDENTIFIERS);
	if (invalid)
		return refuse(message, message_size, EINVAL, "env '%.100s' is not NAME=value", invalid);
	if (!call->cwd)
		return 0;
	if (stat(call->cwd, &status) < 0)
		return refuse(message, message_size, errno, "cannot enter directory '%.400s': no such directory", call->cwd);
	if (!S_ISDIR(status.st_mode))
		return refuse(message, message_size, ENOTDIR, "cannot enter directory '%.400s': not a directory", call->cwd);
	return 0;
}

static int make_call(struct command *command, const struct fields *fields, char *message, size_t message_size)
{
	struct shell_call *call = calloc(1, sizeof *call);

	if (!call)
		return refuse(message, message_size, ENOMEM, "%s", "cannot queue a command: out of memory");
	command->call = call;
	call->command = command;
	call->status_writer = call->out_writer = call->err_writer = call->stdin_reader = -1;
	list_init(&call->link);
	source_init(&call->status, -1, NULL);
	call->with_stdin = fields_int(fields, KEY_STDIN, 0) == 1;
	call->cwd = fields_string(fields, KEY_CWD);
	call->variables = fields_strings(fields, KEY_ENV);
	call->text = strdup(command->text);
	if (!call->variables || !call->text)
		return refuse(message, message_size, errno, "command or env: %s", strerror(errno));
	return check_call(call, message, message_size);
}

static size_t length_of(const struct list *head)
{
	size_t count = 0;

	list_for_each(node, head)
		count++;
	return count;
}

/* The shell of this name, started if there is none. */
static struct shell *find_or_make(const char *name, char *message, size_t message_size)
{
	struct shell *shell = shell_find(name);

	if (!shell && length_of(&shells) >= MAX_SHELLS)
		refuse(message, message_size, EAGAIN, "%s", "64 shells are open; close one first");
	else if (!shell)
		return shell_new(name, message, message_size);
	else if (length_of(&shell->queue) >= MAX_QUEUED)
		refuse(message, message_size, EAGAIN, "shell '%s' has 1024 commands waiting", name);
	else
		return shell;
	return NULL;
}

int shell_start(struct command *command, const struct fields *fields, char *message, size_t message_size)
{
	autofree char *given = fields_string(fields, KEY_SHELL);
	const char *name = given ? given : DEFAULT_SHELL;

	if (!name_valid(name))
		return refuse(message, message_size, EINVAL, "shell name '%.80s' is not 1 to 64 of A-Z a-z 0-9 _ -", name);
	command->shell = strdup(name);
	if (fields_has(fields, KEY_USER))
		return refuse(message, message_size, EINVAL, "%s", "a shell runs as root; run a process to be another user");
	if (!fields_has(fields, KEY_COMMAND))
		return refuse(message, message_size, EINVAL, "%s", "a shell runs a command, not an argv");
	if (make_call(command, fields, message, message_size) < 0)
		return -1;
	struct shell *shell = find_or_make(name, message, message_size);
	return shell ? shell_add(shell, command->call, message, message_size) : -1;
}

void op_shell_list(struct stream *stream, const struct fields *fields)
{
	autobuffer struct buffer records = { 0 };

	(void)fields;
	list_for_each(node, &shells) {
		struct shell *shell = container_of(node, struct shell, link);
		char link[64], directory[4096];
		snprintf(link, sizeof link, "/proc/%d/cwd", shell->child.pid);
		ssize_t length = readlink(link, directory, sizeof directory);
		size_t record = record_begin(&records);
		put_string(&records, KEY_SHELL, shell->name);
		put_int(&records, KEY_PID, shell->child.pid);
		put_int(&records, KEY_RUNNING, shell->current != NULL);
		if (length > 0)
			put_bytes(&records, KEY_CWD, directory, length);
		record_end(&records, record);
	}
	records_send(stream, &records);
}

void op_shell_close(struct stream *stream, const struct fields *fields)
{
	autofree char *name = fields_string(fields, KEY_SHELL);
	struct shell *shell = shell_find(name ? name : DEFAULT_SHELL);

	if (!shell) {
		stream_fail(stream, ENOENT, "no shell '%s' is open", name ? name : DEFAULT_SHELL);
		return;
	}
	shell_close(shell);
	stream_done(stream);
}
