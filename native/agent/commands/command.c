#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "command-watch.h"
#include "exec-process.h"
#include "history.h"
#include "shell.h"
#include "stream.h"

/* How many ended commands are kept, for a host that asks for their output later. */
#define KEPT_ENDED 64

/* How much of each output of the last command is kept. Every snapshot holds it. */
#define KEPT_OF_LAST 65536

struct list commands = LIST_INIT(commands);
static int ended;

bool name_valid(const char *name) {
  size_t length = strlen(name);
  return length >= 1 && length <= NAME_MAX_LENGTH &&
         strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

static void finish_if_complete(struct command *command);

static void out_changed(struct output *output) {
  struct command *command = container_of(output, struct command, out);
  command_wake(command);
  finish_if_complete(command);
}

static void err_changed(struct output *output) {
  struct command *command = container_of(output, struct command, err);
  command_wake(command);
  finish_if_complete(command);
}

static void input_consumed(struct input *input, size_t length) {
  command_consumed(container_of(input, struct command, input), length);
}

static void timer_expired(struct timer *timer) {
  struct command *command = container_of(timer, struct command, timer);
  /* This timer also drives the rounds of a kill that the host asked for. */
  if (!command->killing) command->timed_out = true;
  if (command->call)
    shell_stop(command);
  else
    process_stop(command);
}

struct command *command_new(const char *id, enum command_mode mode) {
  struct command *command = calloc(1, sizeof *command);
  if (!command) return NULL;
  strcpy(command->id, id);
  command->mode = mode;
  list_init(&command->link);
  list_init(&command->watchers);
  list_init(&command->child.link);
  input_init(&command->input, input_consumed);
  output_init(&command->out, out_changed);
  output_init(&command->err, err_changed);
  timer_init(&command->timer, timer_expired);
  return command;
}

void command_register(struct command *command) { list_append(&commands, &command->link); }

struct command *command_find(const char *id) {
  list_for_each(node, &commands) {
    struct command *command = container_of(node, struct command, link);
    if (!command->is_last && !strcmp(command->id, id)) return command;
  }
  return NULL;
}

static struct command *last_command(void) {
  list_for_each(node, &commands) {
    struct command *command = container_of(node, struct command, link);
    if (command->is_last) return command;
  }
  return NULL;
}

struct command *command_find_last(const char *id) {
  struct command *last = last_command();
  return last && !strcmp(last->id, id) ? last : NULL;
}

void command_free(struct command *command) {
  if (command->state >= COMMAND_ENDING && !command->is_last) ended--;
  list_remove(&command->link);
  command_end_watchers(command);
  child_forget(&command->child);
  timer_stop(&command->timer);
  input_close(&command->input);
  output_free(&command->out);
  output_free(&command->err);
  shell_call_free(command->call);
  free(command->text);
  free(command->shell);
  free(command);
}

void command_retire(struct command *command) {
  history_add(command);
  if (command->state != COMMAND_FINISHED) {
    command_free(command);
    return;
  }
  struct command *before = last_command();
  if (before) command_free(before);
  command_end_watchers(command);
  ring_shrink(&command->out.ring, KEPT_OF_LAST);
  ring_shrink(&command->err.ring, KEPT_OF_LAST);
  command->is_last = true;
  ended--;
}

int commands_running(void) {
  int count = 0;
  list_for_each(node, &commands) count += container_of(node, struct command, link)->state < COMMAND_ENDING;
  return count;
}

/* Frees the oldest ended commands that no stream holds, until few enough are left. */
static void forget_oldest(void) {
  list_for_each_safe(node, &commands) {
    struct command *command = container_of(node, struct command, link);
    if (ended <= KEPT_ENDED) return;
    bool is_used = command->is_last || command->holder || !list_empty(&command->watchers);
    if (command->state < COMMAND_ENDING || is_used) continue;
    history_add(command);
    command_free(command);
  }
}

int command_start_timeout(struct command *command, struct error *error) {
  if (command->timeout_ms <= 0 || timer_start(&command->timer, command->timeout_ms) == 0) return 0;
  return error_set(error, errno, "timerfd for the timeout of command '%s'", command->id);
}

/* Without a timer it is not killed: the host can still do that. */
void command_kill_after(struct command *command, int64_t grace_ms) {
  if (command->state != COMMAND_RUNNING || grace_ms <= 0) return;
  if (timer_start(&command->timer, grace_ms) == 0) command->killing = true;
}

int64_t command_duration_us(const struct command *command) {
  bool runs = command->state == COMMAND_RUNNING && command->started_us;
  return runs ? agent_clock_us() - command->started_us : command->duration_us;
}

static int64_t wall_clock_ms(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void command_started(struct command *command, pid_t pid) {
  command->state = COMMAND_RUNNING;
  command->pid = pid;
  command->started_us = agent_clock_us();
  command->started_ms = wall_clock_ms();
  command_announce(command);
}

static void finish_if_complete(struct command *command) {
  if (command->state != COMMAND_ENDING || !output_complete(&command->out) || !output_complete(&command->err)) return;
  command->state = COMMAND_FINISHED;
  output_release(&command->out);
  output_release(&command->err);
  command_wake(command);
}

void command_ended(struct command *command, int wait_status) {
  if (command->state == COMMAND_RUNNING) command->duration_us = agent_clock_us() - command->started_us;
  command->ended_ms = wall_clock_ms();
  if (WIFSIGNALED(wait_status))
    command->signal = WTERMSIG(wait_status);
  else
    command->exit_code = WEXITSTATUS(wait_status);
  command->state = COMMAND_ENDING;
  ended++;
  timer_stop(&command->timer);
  input_close(&command->input);
  /* No output is complete before output_end, so the first of these cannot finish the command. */
  output_end(&command->out);
  output_end(&command->err);
  forget_oldest(); /* which may be this one */
}

bool command_signal(struct command *command, int signal) {
  if (command->state != COMMAND_QUEUED && command->state != COMMAND_RUNNING) return false;
  if (command->call) return shell_signal(command, signal);
  child_kill_group(&command->child, signal);
  return true;
}
