#define _GNU_SOURCE
#include "shell.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command-stream.h"
#include "util.h"

/* Within this time bash has handled an interrupt that came as its command ended, and before it reads the next command
 * (measured: microseconds). */
#define SETTLE_MS 10
#define CLOSE_MS 1000

struct list shells = LIST_INIT(shells);
static unsigned long numbers;

struct shell *shell_find(const char *name) {
  list_for_each(node, &shells) {
    struct shell *shell = container_of(node, struct shell, link);
    if (!shell->closing && !strcmp(shell->name, name)) return shell;
  }
  return NULL;
}

static void shell_run_next(struct shell *shell);

static void settled(struct timer *timer) {
  struct shell *shell = container_of(timer, struct shell, settle);
  if (shell->closing)
    shell_kill(shell, SIGKILL);
  else
    shell_run_next(shell);
}

static void shell_free(struct shell *shell) {
  list_remove(&shell->link);
  bash_release(shell);
  timer_stop(&shell->settle);
  user_free(&shell->user);
  free(shell);
}

void shell_call_finished(struct shell *shell, int wait_status) {
  struct command *command = shell->current;
  bool interrupted = command->call->interrupted;
  bool has_copy = command->call->copy > 0;
  bool continues = shell_copy_run(command->call);
  shell->current = NULL;
  shell_call_free(take_pointer(&command->call));
  if (!continues) command_ended(command, has_copy ? SIGKILL : wait_status);
  bool must_settle = interrupted && shell->child.pid;
  if (!must_settle || timer_start(&shell->settle, SETTLE_MS) < 0) shell_run_next(shell);
}

/* If the shell died before the command began (perhaps it was killed while idle), a new one gets the command, once. */
static bool send_again(struct shell *shell, struct command *command) {
  struct shell_call *call = command->call;
  struct error error; /* is not reported: the command ends with `shell_gone` */
  if (call->begun || call->sent_again || command->killing || shell->closing || bash_start(shell, &error) < 0)
    return false;
  call->sent_again = true;
  if (shell_call_send(call, &error) < 0) shell_kill(shell, SIGKILL);
  if (call->in_copy) return true;
  command->pid = shell->child.pid;
  command_announce(command);
  return true;
}

void shell_exited(struct child *child, int wait_status) {
  struct shell *shell = container_of(child, struct shell, child);
  struct command *command = shell->current;
  int reported;
  timer_stop(&shell->settle);
  bash_release(shell);
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

static int begin(struct shell *shell, struct shell_call *call, struct error *error) {
  if (!shell->child.pid && bash_start(shell, error) < 0) return -1;
  list_remove(&call->link);
  if (shell_call_open(call, error) < 0 || command_start_timeout(call->command, error) < 0 ||
      shell_call_send(call, error) < 0)
    return -1;
  shell->current = call->command;
  if (call->in_copy)
    call->command->state = COMMAND_RUNNING; /* it is announced when its own process runs */
  else
    command_started(call->command, shell->child.pid);
  return 0;
}

/* Runs the next command if it is its turn. Frees a shell that has neither a process nor commands. */
static void shell_run_next(struct shell *shell) {
  struct error error;
  while (!shell->current && shell->settle.source.fd < 0 && !list_empty(&shell->queue)) {
    struct shell_call *call = container_of(shell->queue.next, struct shell_call, link);
    if (begin(shell, call, &error) < 0) command_abandon(call->command, &error);
  }
  if (!shell->current && !shell->child.pid && list_empty(&shell->queue)) shell_free(shell);
}

struct shell *shell_new(const char *name, struct error *error) {
  struct shell *shell = calloc(1, sizeof *shell);
  if (!shell) return error_set(error, ENOMEM, "calloc of a shell"), NULL;
  strcpy(shell->name, name);
  bash_init(shell);
  timer_init(&shell->settle, settled);
  list_init(&shell->queue);
  list_append(&shells, &shell->link);
  if (user_find(&shell->user, NULL, error) == 0) return shell;
  shell_free(shell);
  return NULL;
}

int shell_add(struct shell *shell, struct shell_call *call, struct error *error) {
  bool its_turn = !shell->current && list_empty(&shell->queue) && shell->settle.source.fd < 0;
  call->shell = shell;
  call->number = ++numbers;
  list_append(&shell->queue, &call->link);
  if (!its_turn || begin(shell, call, error) == 0) return 0;
  list_remove(&call->link);
  /* The next call may free the shell, whose user the pipes need. */
  shell_call_end(call);
  shell_run_next(shell);
  return -1;
}

void shell_close(struct shell *shell) {
  shell->closing = true;
  while (!list_empty(&shell->queue)) {
    struct shell_call *call = container_of(shell->queue.next, struct shell_call, link);
    list_remove(&call->link);
    call->command->shell_gone = true;
    command_ended(call->command, SIGHUP);
  }
  bool has_time = timer_start(&shell->settle, CLOSE_MS) == 0;
  shell_kill(shell, has_time ? SIGHUP : SIGKILL);
  shell_kill(shell, SIGCONT);
}
