/* Shell mode: named, persistent bash processes that run commands in turn. */
#pragma once

#include <stdbool.h>

#include "child.h"
#include "command.h"
#include "fields.h"
#include "loop.h"
#include "user.h"

struct stream;

struct shell {
	struct list link;
	char name[NAME_MAX_LENGTH + 1];
	struct user user;       /* the agent's own: no other may open its pipes */
	struct child child;     /* bash; pid 0 when none runs */
	struct source terminal; /* pty master of its controlling terminal */
	struct source feed;     /* pipe that bash reads its lines from */
	int feed_reader;        /* its other end: without bash, too, it never breaks */
	struct buffer unsent;   /* lines the pipe had no room for */
	struct command *current;
	struct list queue;      /* of shell_call.link */
	struct timer settle;    /* holds the next command back after an interrupt */
	bool closing;
};

/* What a command needs while it is in a shell. Its pipes have no names: bash
 * opens them as files of the agent in /proc, so that a command needs no space on
 * any disk, which a neighbour may have filled. The agent holds the ends that bash
 * is to open for as long as they may be. */
struct shell_call {
	struct list link;
	struct command *command;
	struct shell *shell;
	char *text, *cwd;
	char **variables;
	bool with_stdin;
	unsigned long number; /* tells its report from any other */
	struct source status; /* reads what bash reports */
	int status_writer, out_writer, err_writer;
	int stdin_reader; /* until bash has opened it */
	bool begun;           /* bash has opened all of them */
	int pending_signal;   /* wanted before it had begun */
	bool interrupted;     /* bash was sent SIGINT because of it */
	int kill_rounds;
	bool sent_again;      /* its first shell died before it began */
};

/* --- shell.c: the bash processes and their queues --- */

extern struct list shells;
struct shell *shell_find(const char *name);
struct shell *shell_new(const char *name, char *message, size_t message_size);

/* Puts the call in the queue and runs it if it is its turn. 0, or -1 with errno
 * and a message; the call is then still the caller's. */
int shell_add(struct shell *shell, struct shell_call *call, char *message, size_t message_size);

/* Signals bash if it lives. */
void shell_kill(const struct shell *shell, int signal);

/* Appends to what bash reads. */
void shell_feed(struct shell *shell, const struct buffer *lines);

/* The current command ended. */
void shell_call_finished(struct shell *shell, int wait_status);

/* HUP, then KILL. Commands that wait in its queue end unrun. */
void shell_close(struct shell *shell);

/* --- shell-call.c: one command's turn --- */

/* Makes its pipes. 0, or -1 with errno and a message. */
int shell_call_open(struct shell_call *call, char *message, size_t message_size);

/* Sends its lines to bash. 0, or -1 with errno ENOMEM and a message. */
int shell_call_send(struct shell_call *call, char *message, size_t message_size);

/* Reads what bash reported. True once it has said how the command ended. */
bool shell_call_reported(struct shell_call *call, int *wait_status);
void shell_call_end(struct shell_call *call);
void shell_call_free(struct shell_call *call);

/* --- shell-stop.c --- */

/* Its time is up, its grace is over, or the next round of killing is due. */
void shell_stop(struct command *command);
bool shell_signal(struct command *command, int signal);
