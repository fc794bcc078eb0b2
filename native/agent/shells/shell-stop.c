/* Ends the command of a shell after a timeout or with a signal, without ending the shell. */
#define _GNU_SOURCE
#include <signal.h>

#include "foreground.h"
#include "shell-script.h"
#include "shell.h"

#define ROUND_MS 100
#define MAX_ROUNDS 10

/* After SIGINT bash drops the rest of the line. That may be the line that reports, so it is sent once more. */
static void interrupt_bash(struct shell_call *call) {
  struct shell *shell = call->shell;
  autobuffer struct buffer lines = {0};
  call->interrupted = true;
  shell_kill(shell, SIGINT);
  script_report(&lines, call);
  shell_feed(shell, &lines);
}

/* SIGINT must reach bash before its child dies. Then bash drops the whole line; otherwise it would continue with the
 * next command of a list or loop. */
static void interrupt(struct shell_call *call, int signal) {
  pid_t group = foreground_group(call->shell);
  interrupt_bash(call);
  if (group) kill(-group, signal);
}

/* New foreground groups can appear as long as the shell runs, so killing takes several rounds. The last resort is to
 * kill the shell itself. */
static void kill_round(struct shell_call *call) {
  struct command *command = call->command;
  bool is_last = call->kill_rounds++ >= MAX_ROUNDS || !call->begun || timer_start(&command->timer, ROUND_MS) < 0;
  if (!is_last) return interrupt(call, SIGKILL);
  pid_t group = foreground_group(call->shell);
  if (group) kill(-group, SIGKILL);
  shell_kill(call->shell, SIGKILL);
}

void shell_stop(struct command *command) {
  struct shell_call *call = command->call;
  if (command->killing) {
    kill_round(call);
    return;
  }
  command->killing = true;
  if (timer_start(&command->timer, command->grace_ms) < 0)
    kill_round(call);
  else if (call->begun && !call->in_copy)
    interrupt(call, SIGTERM);
  else
    call->pending_signal = SIGTERM;
}

static bool ends_a_command(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

bool shell_signal(struct command *command, int signal) {
  struct shell_call *call = command->call;
  if (command->state == COMMAND_QUEUED) {
    list_remove(&call->link);
    command_ended(command, signal);
    return true;
  }
  /* A copy gets it when there is one, which is soon. */
  if (!call->begun || call->in_copy) {
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
