/* Ending the command of a shell, by a timeout or a signal, without ending the shell. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
#include <termios.h>

#include "shell-script.h"
#include "shell.h"

#define ROUND_MS 100
#define MAX_ROUNDS 10

/* The group that has the shell's terminal, 0 when it is bash itself. */
static pid_t foreground_group(const struct shell *shell)
{
	pid_t group = tcgetpgrp(shell->terminal.fd);

	return group > 1 && group != shell->child.pid ? group : 0;
}

/* bash abandons the rest of the line at SIGINT. It may just be reading the line
 * that reports, and lose that too: it is sent once more. */
static void interrupt_bash(struct shell_call *call)
{
	struct shell *shell = call->shell;
	autobuffer struct buffer lines = { 0 };

	call->interrupted = true;
	shell_kill(shell, SIGINT);
	script_report(&lines, call);
	shell_feed(shell, &lines);
}

/* SIGINT must reach bash before its child dies: bash then gives up the whole
 * line, where it would go on with the next command of a list or loop. */
static void interrupt(struct shell_call *call, int signal)
{
	pid_t group = foreground_group(call->shell);

	interrupt_bash(call);
	if (group)
		kill(-group, signal);
}

/* New foreground groups may appear while the shell runs on, so killing goes in
 * rounds; the shell itself is the last resort. */
static void kill_round(struct shell_call *call)
{
	struct command *command = call->command;

	if (call->kill_rounds++ >= MAX_ROUNDS || !call->begun) {
		pid_t group = foreground_group(call->shell);
		if (group)
			kill(-group, SIGKILL);
		shell_kill(call->shell, SIGKILL);
		return;
	}
	interrupt(call, SIGKILL);
	timer_start(&command->timer, ROUND_MS);
}

void shell_stop(struct command *command)
{
	struct shell_call *call = command->call;

	if (command->killing) {
		kill_round(call);
		return;
	}
	command->killing = true;
	if (call->begun)
		interrupt(call, SIGTERM);
	else
		call->pending_signal = SIGTERM;
	timer_start(&command->timer, command->grace_ms);
}

static bool ends_a_command(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

bool shell_signal(struct command *command, int signal)
{
	struct shell_call *call = command->call;

	if (command->state == COMMAND_QUEUED) {
		list_remove(&call->link);
		command_ended(command, signal);
		return true;
	}
	if (!call->begun) {
		call->pending_signal = signal;
		return true;
	}
	if (signal == SIGKILL) {
		command->killing = true;
		kill_round(call);
		return true;
	}
	if (ends_a_command(signal)) {
		interrupt(call, signal);
		return true;
	}
	pid_t group = foreground_group(call->shell);
	return group && kill(-group, signal) == 0;
}
