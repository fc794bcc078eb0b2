/* Shell mode: named bash processes that persist, and run one command after the other. A command may also run in a copy
 * of its shell, which holds up nobody. */
#pragma once

#include <stdbool.h>

#include "buffer.h"
#include "child.h"
#include "command.h"
#include "loop.h"
#include "shared/error.h"
#include "user.h"

struct stream;

struct shell {
  struct list link;
  char name[NAME_MAX_LENGTH + 1];
  struct user user;       /* the default one */
  struct child child;     /* bash; its pid is 0 if it does not run */
  struct source terminal; /* master of its controlling terminal */
  struct source feed;     /* pipe that bash reads its lines from */
  int feed_reader;        /* the other end; held so that the pipe does not break without bash */
  struct buffer unsent;   /* lines that the pipe has no room for */
  struct command *current;
  struct list queue;   /* of shell_call.link */
  struct timer settle; /* holds back the next command after an interrupt */
  bool closing;
};

/* What a command needs while it is in a shell. Its pipes have no names: bash opens them as descriptors of the agent in
 * /proc, so that a command needs no space on a disk, which a neighbour may have filled. Only if bash runs as another
 * user than the agent do they have names (call-pipe.h). The agent holds the ends that
 * bash is going to open for as long as it may open them. */
struct shell_call {
  struct list link;
  struct command *command;
  struct shell *shell;
  char *text, *cwd;
  char **variables;
  bool with_stdin;
  bool in_copy;    /* it runs in a copy of the shell */
  pid_t copy;      /* 0 until the shell has made it */
  int gate_reader; /* the copy waits there until it is the agent's own child */
  int gate_writer;
  unsigned long number; /* tells its report from others */
  struct source status; /* where bash reports */
  int status_writer, out_writer, err_writer;
  int stdin_reader;   /* until bash has opened it */
  bool begun;         /* bash has opened them all */
  int pending_signal; /* that came before it had begun */
  bool interrupted;   /* bash has got SIGINT because of it */
  int kill_rounds;
  bool sent_again; /* because its first shell died before it began */
};

/* --- shell.c: the shells and their queues --- */

extern struct list shells;
struct shell *shell_find(const char *name);
struct shell *shell_new(const char *name, struct error *error); /* NULL with an error */

/* Puts the call into the queue, and runs it if it is its turn. 0, or -1 with an error; then the call still belongs to
 * the caller. */
int shell_add(struct shell *shell, struct shell_call *call, struct error *error);

/* The current command has ended. */
void shell_call_finished(struct shell *shell, int wait_status);

/* Sends HUP, and later KILL. Commands that wait in the queue end without having run. */
void shell_close(struct shell *shell);

/* bash has ended. */
void shell_exited(struct child *child, int wait_status);

/* --- bash.c: the process --- */

void bash_init(struct shell *shell);

/* Starts bash on a terminal of its own. 0, or -1 with an error. */
int bash_start(struct shell *shell, struct error *error);

/* Closes its terminal and its pipe. */
void bash_release(struct shell *shell);

/* Signals bash if it runs. */
void shell_kill(const struct shell *shell, int signal);

/* Gives bash more lines to read. */
void shell_feed(struct shell *shell, const struct buffer *lines);

/* --- shell-call.c: one command's turn --- */

/* Makes its pipes. 0, or -1 with an error. */
int shell_call_open(struct shell_call *call, struct error *error);

/* Sends its lines to bash. 0, or -1 with an error. */
int shell_call_send(struct shell_call *call, struct error *error);

/* Reads what bash has reported. True if that includes the end of the command. */
bool shell_call_reported(struct shell_call *call, int *wait_status);
void shell_call_end(struct shell_call *call);
void shell_call_free(struct shell_call *call);

/* --- shell-copy.c: a command in a copy of its shell --- */

/* Makes the pipe that the copy waits at. 0, or -1 with an error. */
int shell_copy_open(struct shell_call *call, struct error *error);

/* The shell has made the copy, which is the agent's child now. Lets it run the command. False if there is no copy. */
bool shell_copy_run(struct shell_call *call);
void shell_copy_end(struct shell_call *call);

/* --- shell-stop.c --- */

/* Ends the command because its time is up, or its grace; or does the next round of killing. */
void shell_stop(struct command *command);
bool shell_signal(struct command *command, int signal);
