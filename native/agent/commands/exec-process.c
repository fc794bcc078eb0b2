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

static void process_exited(struct child *child, int wait_status) {
  command_ended(container_of(child, struct command, child), wait_status);
}

/* A pipe whose AGENT_END (0 or 1) does not block. */
static int open_pipe(int agent_end, int *ours, int *theirs) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  *ours = ends[agent_end];
  *theirs = ends[!agent_end];
  return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

struct pipes {
  int ours[3], theirs[3];
};

static void close_pipes(struct pipes *pipes) {
  for (int i = 0; i < 3; i++) {
    close_fd(&pipes->ours[i]);
    close_fd(&pipes->theirs[i]);
  }
}

#define autopipes __attribute__((cleanup(close_pipes)))

static int open_pipes(struct pipes *pipes, bool with_stdin) {
  if (with_stdin && open_pipe(1, &pipes->ours[0], &pipes->theirs[0]) < 0) return -1;
  if (open_pipe(0, &pipes->ours[1], &pipes->theirs[1]) < 0) return -1;
  return open_pipe(0, &pipes->ours[2], &pipes->theirs[2]);
}

static int run(struct command *command, const struct spawn *program, struct pipes *pipes, struct error *error) {
  pid_t pid;
  if (command_start_timeout(command, error) < 0 || spawn(program, &pid, error) < 0) return -1;
  child_add(&command->child, pid, process_exited);
  if (pipes->ours[0] >= 0) input_open(&command->input, take_fd(&pipes->ours[0]));
  if (output_open(&command->out, take_fd(&pipes->ours[1])) < 0 ||
      output_open(&command->err, take_fd(&pipes->ours[2])) < 0) {
    error_set(error, errno, "epoll_ctl of the output of pid %d", pid);
    child_kill_group(&command->child, SIGKILL);
    return -1;
  }
  command_started(command, pid);
  return 0;
}

int process_start(struct command *command, const struct fields *fields, struct error *error) {
  autofree char **argv = NULL, **own = NULL;
  autofree char *cwd = NULL, *name = NULL;
  autouser struct user user = {0};
  if (fields_strings(fields, KEY_ARGV, &argv, error) < 0 || fields_strings(fields, KEY_ENV, &own, error) < 0 ||
      fields_optional(fields, KEY_CWD, &cwd, error) < 0 || fields_optional(fields, KEY_USER, &name, error) < 0 ||
      check_variables(own, NAMES_ANY, error) < 0 || user_find(&user, name, error) < 0)
    return -1;
  autovector char **environment = environment_build(&user, own, NULL, error);
  if (!environment) return -1;
  autopipes struct pipes pipes = {{-1, -1, -1}, {-1, -1, -1}};
  if (open_pipes(&pipes, fields_int(fields, KEY_STDIN, 0) == 1) < 0) return error_set(error, errno, "pipe2");
  char *through_shell[] = {"/bin/sh", "-c", command->text, NULL};
  const struct spawn program = {
      .argv = *argv ? argv : through_shell,
      .environment = environment,
      .directory = environment_start_directory(&user, cwd),
      .directory_asked = cwd != NULL,
      .user = &user,
      .fds = {pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]},
  };
  return run(command, &program, &pipes, error);
}

void process_stop(struct command *command) {
  bool has_grace = !command->killing && timer_start(&command->timer, command->grace_ms) == 0;
  command->killing = true;
  child_kill_group(&command->child, has_grace ? SIGTERM : SIGKILL);
}
