#define _GNU_SOURCE
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command-stream.h"
#include "environment.h"
#include "pty.h"
#include "shell-script.h"
#include "spawn.h"
#include "util.h"

/* An interrupt that was sent as its command ended is taken by bash within this
 * time (measured: microseconds), before it reads the next command. */
#define SETTLE_MS 10
#define CLOSE_MS 1000

struct list shells = LIST_INIT(shells);
static unsigned long numbers;

struct shell *shell_find(const char *name)
{
	list_for_each(node, &shells) {
		struct shell *shell = container_of(node, struct shell, link);
		if (!shell->closing && !strcmp(shell->name, name))
			return shell;
	}
	return NULL;
}

static void shell_run_next(struct shell *shell);

static void settled(struct timer *timer)
{
	struct shell *shell = container_of(timer, struct shell, settle);

	if (shell->closing)
		shell_kill(shell, SIGKILL);
	else
		shell_run_next(shell);
}

/* bash prints its prompts and job notices there; nobody reads them. */
static void terminal_ready(struct source *source, uint32_t events)
{
	char dropped[4096];

	(void)events;
	if (read(source->fd, dropped, sizeof dropped) < 0 && errno != EAGAIN)
		source_watch(source, 0);
}

static void send_unsent(struct shell *shell)
{
	struct buffer *unsent = &shell->unsent;

	while (unsent->length) {
		ssize_t put = write(shell->feed.fd, buffer_bytes(unsent), unsent->length);
		if (put < 0)
			break;
		buffer_consume(unsent, put);
	}
	source_watch(&shell->feed, unsent->length ? EPOLLOUT : 0);
}

static void feed_ready(struct source *source, uint32_t events)
{
	(void)events;
	send_unsent(container_of(source, struct shell, feed));
}

/* After bash is reaped its pid is 0, which to kill(2) means the agent's own group. */
void shell_kill(const struct shell *shell, int signal)
{
	if (shell->child.pid > 0)
		kill(shell->child.pid, signal);
}

void shell_feed(struct shell *shell, const struct buffer *lines)
{
	if (lines->failed || !buffer_append(&shell->unsent, buffer_bytes(lines), lines->length)) {
		/* Half a command must not be run; the shell goes and says so. */
		shell_kill(shell, SIGKILL);
		return;
	}
	send_unsent(shell);
}

static void release_process(struct shell *shell)
{
	source_close(&shell->terminal);
	source_close(&shell->feed);
	close_fd(&shell->feed_reader);
	buffer_free(&shell->unsent);
}

static void shell_free(struct shell *shell)
{
	list_remove(&shell->link);
	release_process(shell);
	timer_stop(&shell->settle);
	user_free(&shell->user);
	free(shell);
}

void shell_call_finished(struct shell *shell, int wait_status)
{
	struct command *command = shell->current;
	bool interrupted = command->call->interrupted;

	shell->current = NULL;
	shell_call_free(take_pointer(&command->call));
	command_ended(command, wait_status);
	if (interrupted && shell->child.pid)
		timer_start(&shell->settle, SETTLE_MS);
	else
		shell_run_next(shell);
}

static int start_bash(struct shell *shell, char *message, size_t message_size);

/* A shell that died before the command began (killed while idle, perhaps) has
 * run nothing of it: a fresh one gets it, once. */
static bool send_again(struct shell *shell, struct command *command)
{
	struct shell_call *call = command->call;
	char message[512];

	if (call->begun || call->sent_again || command->killing || shell->closing ||
	    start_bash(shell, message, sizeof message) < 0)
		return false;
	call->sent_again = true;
	if (shell_call_send(call, message, sizeof message) < 0)
		shell_kill(shell, SIGKILL);
	command->pid = shell->child.pid;
	command_announce(command);
	return true;
}

static void shell_exited(struct child *child, int wait_status)
{
	struct shell *shell = container_of(child, struct shell, child);
	struct command *command = shell->current;
	int reported;

	timer_stop(&shell->settle);
	release_process(shell);
	if (command && shell_call_reported(command->call, &reported)) {
		shell_call_finished(shell, reported);
		return;
	}
	if (!command) {
		shell_run_next(shell);
	} else if (!send_again(shell, command)) {
		command->shell_gone = true;
		shell_call_finished(shell, wait_status);
	}
}

/* The pipe bash reads from. The agent holds both ends, so that bash never sees
 * an end and the agent never a broken pipe. */
static int open_feed(struct shell *shell)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	shell->feed_reader = ends[0];
	source_init(&shell->feed, ends[1], feed_ready);
	/* bash waits for lines; the agent does not wait for bash. */
	return fcntl(ends[1], F_SETFL, O_NONBLOCK);
}

static const char *bash_path(void)
{
	const char *configured = environment_shell();
	const char *base = configured ? strrchr(configured, '/') : NULL;

	return base && !strcmp(base, "/bash") ? configured : "bash";
}

static int execute_bash(struct shell *shell, const char *terminal, char *message, size_t message_size)
{
	autovector char **environment = environment_build(&shell->user, NULL, "xterm-256color");
	char *argv[] = { (char *)bash_path(), "--norc", "--noprofile", "--noediting", "-i", "+o", "history", NULL };
	const struct spawn program = {
		.argv = argv,
		.environment = environment,
		.directory = environment_start_directory(&shell->user, NULL),
		.user = &shell->user,
		.fds = { shell->feed_reader, -1, -1 },
		.terminal = terminal,
	};
	pid_t pid;

	if (!environment) {
		snprintf(message, message_size, "cannot prepare a shell: %s", strerror(ENOMEM));
		return -1;
	}
	if (spawn(&program, &pid, message, message_size) < 0) {
		int failure = errno;
		size_t length = strlen(message);
		if (failure == ENOENT)
			snprintf(message + length, message_size - length,
				 "; install bash inside, or run the command in process mode");
		errno = failure;
		return -1;
	}
	child_add(&shell->child, pid, shell_exited);
	return 0;
}

static int start_bash(struct shell *shell, char *message, size_t message_size)
{
	autobuffer struct buffer lines = { 0 };
	char terminal[PTY_PATH];

	source_init(&shell->terminal, pty_open(80, 24, terminal), terminal_ready);
	if (shell->terminal.fd < 0 || open_feed(shell) < 0 || source_watch(&shell->terminal, EPOLLIN) < 0)
		snprintf(message, message_size, "cannot open a terminal or pipe for shell '%s': %s", shell->name,
			 strerror(errno));
	else if (execute_bash(shell, terminal, message, message_size) == 0) {
		script_setup(&lines);
		shell_feed(shell, &lines);
		return 0;
	}
	int failure = errno;
	release_process(shell);
	errno = failure;
	return -1;
}

static int begin(struct shell *shell, struct shell_call *call, char *message, size_t message_size)
{
	if (!shell->child.pid && start_bash(shell, message, message_size) < 0)
		return -1;
	list_remove(&call->link);
	if (shell_call_open(call, message, message_size) < 0 || shell_call_send(call, message, message_size) < 0)
		return -1;
	shell->current = call->command;
	command_started(call->command, shell->child.pid);
	return 0;
}

/* Runs the next command if it is its turn. A shell without process and without
 * commands is gone. */
static void shell_run_next(struct shell *shell)
{
	char message[512];

	while (!shell->current && shell->settle.source.fd < 0 && !list_empty(&shell->queue)) {
		struct shell_call *call = container_of(shell->queue.next, struct shell_call, link);
		if (begin(shell, call, message, sizeof message) < 0)
			command_abandon(call->command, errno, message);
	}
	if (!shell->current && !shell->child.pid && list_empty(&shell->queue))
		shell_free(shell);
}

struct shell *shell_new(const char *name, char *message, size_t message_size)
{
	struct shell *shell = calloc(1, sizeof *shell);

	if (!shell) {
		snprintf(message, message_size, "cannot make a shell: %s", strerror(ENOMEM));
		errno = ENOMEM;
		return NULL;
	}
	strcpy(shell->name, name);
	source_init(&shell->terminal, -1, terminal_ready);
	source_init(&shell->feed, -1, feed_ready);
	shell->feed_reader = -1;
	timer_init(&shell->settle, settled);
	list_init(&shell->child.link);
	list_init(&shell->queue);
	list_append(&shells, &shell->link);
	if (user_find(&shell->user, NULL) == 0)
		return shell;
	int failure = errno;
	snprintf(message, message_size, "cannot make a shell: %s", strerror(failure));
	shell_free(shell);
	errno = failure;
	return NULL;
}

int shell_add(struct shell *shell, struct shell_call *call, char *message, size_t message_size)
{
	bool its_turn = !shell->current && list_empty(&shell->queue) && shell->settle.source.fd < 0;

	call->shell = shell;
	call->number = ++numbers;
	list_append(&shell->queue, &call->link);
	if (!its_turn || begin(shell, call, message, message_size) == 0)
		return 0;
	int failure = errno;
	list_remove(&call->link);
	shell_run_next(shell);
	errno = failure;
	return -1;
}

void shell_close(struct shell *shell)
{
	shell->closing = true;
	while (!list_empty(&shell->queue)) {
		struct shell_call *call = container_of(shell->queue.next, struct shell_call, link);
		list_remove(&call->link);
		call->command->shell_gone = true;
		command_ended(call->command, SIGHUP);
	}
	timer_start(&shell->settle, CLOSE_MS);
	shell_kill(shell, SIGHUP);
	shell_kill(shell, SIGCONT);
}
