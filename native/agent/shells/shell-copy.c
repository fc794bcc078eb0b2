/* A command in a copy of its shell: bash forks twice, so that the copy is an orphan, which the agent adopts. It has the
 * directory, the variables and the functions of the shell, and a process group of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call-pipe.h"
#include "shell.h"
#include "util.h"

static void copy_exited(struct child *child, int wait_status) {
  command_ended(container_of(child, struct command, child), wait_status);
}

int shell_copy_open(struct shell_call *call, struct error *error) {
  int ends[2];
  if (call_pipe_open(&call->shell->user, END_READER, ends) < 0)
    return error_set(error, errno, "pipe2 or mkfifo for command '%s'", call->command->id);
  call->gate_reader = ends[0];
  call->gate_writer = ends[1];
  return 0;
}

/* bash has waited for the process between itself and the copy, so the copy is the agent's child: the agent will reap
 * it. A signal that came before finds it here, and so does one that somebody inside has sent and that has ended it. */
bool shell_copy_run(struct shell_call *call) {
  struct command *command = call->command;
  if (call->copy <= 1) return false;
  child_add(&command->child, call->copy, copy_exited);
  command_started(command, call->copy);
  if (call->pending_signal) child_kill_group(&command->child, call->pending_signal);
  if (kill(call->copy, 0) == 0 && write(call->gate_writer, "\n", 1) == 1) return true;
  child_kill_group(&command->child, SIGKILL);
  child_forget(&command->child);
  return false;
}

/* A copy that still waits ends, because it reads no line. */
void shell_copy_end(struct shell_call *call) {
  if (call->gate_reader >= 0) call_pipe_close(&call->shell->user, &call->gate_reader);
  close_fd(&call->gate_writer);
}
