/* One command's turn in a shell: its pipes, its lines, its report. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "call-pipe.h"
#include "shell-script.h"
#include "shell.h"
#include "util.h"

static int make_output(const struct shell_call *call, struct output *output, int *writer) {
  int ends[2];
  if (call_pipe_open(&call->shell->user, END_WRITER, ends) < 0) return -1;
  *writer = ends[1];
  return output_open(output, ends[0]);
}

static int make_input(struct shell_call *call) {
  int ends[2];
  if (call_pipe_open(&call->shell->user, END_READER, ends) < 0) return -1;
  call->stdin_reader = ends[0];
  call->command->input.held_open = true;
  input_open(&call->command->input, ends[1]);
  return 0;
}

static void status_ready(struct source *source, uint32_t events) {
  struct shell_call *call = container_of(source, struct shell_call, status);
  int wait_status;
  (void)events;
  if (shell_call_reported(call, &wait_status)) shell_call_finished(call->shell, wait_status);
}

static int make_status(struct shell_call *call) {
  int ends[2];
  if (call_pipe_open(&call->shell->user, END_WRITER, ends) < 0) return -1;
  call->status_writer = ends[1];
  source_init(&call->status, ends[0], status_ready);
  return source_watch(&call->status, EPOLLIN);
}

/* Undoes what an earlier command did with stty. The master sets the modes of the slave. */
static void reset_terminal(int master) {
  struct termios modes;
  if (tcgetattr(master, &modes) < 0) return;
  modes.c_iflag = ICRNL | IXON | IUTF8;
  modes.c_oflag = OPOST | ONLCR;
  modes.c_cflag = CS8 | CREAD | HUPCL | B38400;
  modes.c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE;
  tcsetattr(master, TCSANOW, &modes);
}

int shell_call_open(struct shell_call *call, struct error *error) {
  struct command *command = call->command;
  if (make_output(call, &command->out, &call->out_writer) < 0 ||
      make_output(call, &command->err, &call->err_writer) < 0 || make_status(call) < 0 ||
      (call->with_stdin && make_input(call) < 0))
    return error_set(error, errno, "pipe2, mkfifo or epoll_ctl for command '%s'", command->id);
  return call->in_copy ? shell_copy_open(call, error) : 0;
}

int shell_call_send(struct shell_call *call, struct error *error) {
  autobuffer struct buffer lines = {0};
  script_command(&lines, call);
  script_report(&lines, call);
  if (lines.failed) return error_set(error, ENOMEM, "malloc for a command of %zu bytes", strlen(call->text));
  reset_terminal(call->shell->terminal.fd);
  shell_feed(call->shell, &lines);
  return 0;
}

/* A call that was never in a shell has none. */
static void close_end(const struct shell_call *call, int *fd) {
  if (*fd >= 0) call_pipe_close(&call->shell->user, fd);
}

static void begun(struct shell_call *call) {
  if (call->begun) return;
  call->begun = true;
  /* bash has opened its end. With this one closed, EPIPE tells when the last reader is gone. */
  close_end(call, &call->stdin_reader);
  input_release_end(&call->command->input);
  if (call->pending_signal && !call->in_copy) shell_signal(call->command, call->pending_signal);
}

/* bash writes "b\n" when it has begun, "p" and the pid of a copy if it has made one, and later the exit status. One
 * read may return all of them. */
bool shell_call_reported(struct shell_call *call, int *wait_status) {
  char report[64] = "";
  ssize_t got = read(call->status.fd, report, sizeof report - 1);
  const char *status = report;
  if (got <= 0) return false;
  if (*status == 'b') {
    begun(call);
    status += 2;
  }
  if (*status == 'p') {
    call->copy = atoi(status + 1);
    status += strcspn(status, "\n") + 1;
  }
  if (!*status) return false;
  *wait_status = (atoi(status) & 0xff) << 8;
  return true;
}

void shell_call_end(struct shell_call *call) {
  source_close(&call->status);
  close_end(call, &call->status_writer);
  close_end(call, &call->out_writer);
  close_end(call, &call->err_writer);
  close_end(call, &call->stdin_reader);
  shell_copy_end(call);
}

void shell_call_free(struct shell_call *call) {
  if (!call) return;
  list_remove(&call->link);
  shell_call_end(call);
  free(call->text);
  free(call->cwd);
  free(call->variables);
  free(call);
}
