/* A command: its process, its stdin and outputs, and the stream that holds it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "child.h"
#include "fields.h"
#include "input.h"
#include "list.h"
#include "loop.h"
#include "output.h"
#include "shared/error.h"

#define NAME_MAX_LENGTH 64

enum command_mode { MODE_PROCESS, MODE_SHELL };

enum command_state {
  COMMAND_QUEUED, /* waiting for its turn in a shell */
  COMMAND_RUNNING,
  COMMAND_ENDING, /* its process has ended, and its last output waits for space in a ring */
  COMMAND_FINISHED,
};

struct shell_call;

struct command {
  struct list link;
  char id[NAME_MAX_LENGTH + 1];
  enum command_mode mode;
  enum command_state state;
  char *text;
  char *shell;  /* name of its shell; NULL in process mode */
  bool in_copy; /* it runs in a copy of that shell */
  pid_t pid;
  struct child child;      /* process mode, and a copy of a shell */
  struct shell_call *call; /* shell mode, until it ends */
  struct input input;
  struct output out, err;

  int64_t timeout_ms, grace_ms;
  struct timer timer;
  bool killing; /* the grace is over */

  int64_t started_us, duration_us;
  int64_t started_ms, ended_ms; /* by the clock of the wall; 0: it has not */
  int exit_code, signal;        /* signal is 0 if it exited */
  bool timed_out, shell_gone;
  bool is_last; /* it was forgotten, but is shown as the last command */

  struct list watchers; /* streams that read along */
  struct stream *holder;
  uint64_t out_sent, err_sent; /* how far the holder is in each output */
  size_t holder_input;         /* bytes of the waiting input that the holder sent */
};

/* A new command that is not in the list yet. NULL if memory is short. */
struct command *command_new(const char *id, enum command_mode mode);
void command_register(struct command *command);
struct command *command_find(const char *id);
void command_free(struct command *command);

/* Forgets an ended command, but not that it ran, nor the end of its output until the next one is retired. */
void command_retire(struct command *command);

/* The one that was retired, if it has this id. */
struct command *command_find_last(const char *id);

int commands_running(void);
extern struct list commands; /* all that are registered, oldest first */

/* Starts the timer of its timeout, if it has one. 0, or -1 with an error. */
int command_start_timeout(struct command *command, struct error *error);

/* Kills it if it still runs after this time. */
void command_kill_after(struct command *command, int64_t grace_ms);

/* For how long it has run, or ran. */
int64_t command_duration_us(const struct command *command);

/* It runs as PID from now on. */
void command_started(struct command *command, pid_t pid);

/* Its process has ended. The command is finished when its output has been read. It may be freed by then: only a limited
 * number of ended commands are kept. */
void command_ended(struct command *command, int wait_status);

/* Whether it has 1 to 64 letters, digits, '_' and '-'. */
bool name_valid(const char *name);

/* These are in command-stream.c. */
void command_announce(struct command *command);
void command_wake(struct command *command);
void command_consumed(struct command *command, size_t length);

/* Sends a signal to the command. False if it is not running. */
bool command_signal(struct command *command, int signal);
