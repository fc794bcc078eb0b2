#define _GNU_SOURCE
#include "exec-process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "environment.h"
#include "spawn.h"
#include "util.h"

static void process_exited(struct child *child, int wait_status)
{
	command_ended(container_of(child, struct command, child), wait_status);
}

/* A pipe whose `agent_end` (0 or 1) does not block; only that description is changed. */
static int open_pipe(int agent_end, int *ours, int *theirs)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*ours = ends[agent_end];
	*theirs = ends[!agent_end];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

struct pipes {
	int ours[3], theirs[3];
};

static void close_pipes(struct pipes *pipes)
{
	for (int i = 0; i < 3; i++) {
		close_fd(&pipes->ours[i]);
		close_fd(&pipes->theirs[i]);
	}
}

static int open_pipes(struct pipes *pipes, bool with_stdin)
{
	if (with_stdin && open_pipe(1, &pipes->ours[0], &pipes->theirs[0]) < 0)
		return -1;
	if (open_pipe(0, &pipes->ours[1], &pipes->theirs[1]) < 0)
		return -1;
	return open_pipe(0, &pipes->ours[2], &pipes->theirs[2]);
}

static int run(struct command *command, const struct spawn *program, struct pipes *pipes, char *message,
	       size_t message_size)
{
	pid_t pid;

	if (spawn(program, &pid, message, message_size) < 0)
		return -1;
	child_add(&command->child, pid, process_exited);
	if (pipes->ours[0] >= 0)
		input_open(&command->input, take_fd(&pipes->ours[0]));
	if (output_open(&command->out, take_fd(&pipes->ours[1])) < 0 ||
	    output_open(&command->err, take_fd(&pipes->ours[2])) < 0) {
		int failure = errno;
		snprintf(message, message_size, "cannot watch the output of pid %d: %s", pid, strerror(failure));
		child_kill_group(&command->child, SIGKILL);
		errno = failure;
		return -1;
	}
	command_started(command, pid);
	return 0;
}

int process_start(struct command *command, const struct fields *fields, char *message, size_t message_size)
{
	autofree char **argv = fields_strings(fields, KEY_ARGV);
	autofree char **own = fields_strings(fields, KEY_ENV);
	autofree char *cwd = fields_string(fields, KEY_CWD);
	autofree char *name = fields_string(fields, KEY_USER);
	autouser struct user user = { 0 };
	__attribute__((cleanup(close_pipes))) struct pipes pipes = { { -1, -1, -1 }, { -1, -1, -1 } };
	char *through_shell[] = { "/bin/sh", "-c", command->text, NULL };

	if (!argv || !own) {
		snprintf(message, message_size, "argv or env: %s", strerror(errno));
		return -1;
	}
	const char *invalid = first_invalid_variable(own, NAMES_ANY);
	if (invalid) {
		snprintf(message, message_size, "env '%.100s' is not NAME=value", invalid);
		errno = EINVAL;
		return -1;
	}
	if (user_find(&user, name) < 0) {
		snprintf(message, message_size, "user '%s': %s", name ? name : "",
			 errno == ENOENT ? "not in /etc/passwd or /etc/group" : strerror(errno));
		return -1;
	}
	autovector char **environment = environment_build(&user, own, NULL);
	if (!environment || open_pipes(&pipes, fields_int(fields, KEY_STDIN, 0) == 1) < 0) {
		snprintf(message, message_size, "cannot prepare a process: %s", strerror(errno));
		return -1;
	}
	const struct spawn program = {
		.argv = *argv ? argv : through_shell,
		.environment = environment,
		.directory = environment_start_directory(&user, cwd),
		.directory_asked = cwd != NULL,
		.user = &user,
		.fds = { pipes.theirs[0], pipes.theirs[1], pipes.theirs[2] },
	};
	return run(command, &program, &pipes, message, message_size);
}

void process_stop(struct command *command)
{
	child_kill_group(&command->child, command->killing ? SIGKILL : SIGTERM);
	if (command->killing)
		return;
	command->killing = true;
	timer_start(&command->timer, command->grace_ms);
}
