/* The bash process of a shell, with its terminal and the pipe that it reads its lines from. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "pty.h"
#include "shell-script.h"
#include "shell.h"
#include "spawn.h"
#include "util.h"

/* bash prints prompts and job notices there, which nobody reads. */
static void terminal_ready(struct source *source, uint32_t events) {
  char dropped[4096];
  (void)events;
  if (read(source->fd, dropped, sizeof dropped) < 0 && errno != EAGAIN) source_watch(source, 0);
}

static void send_unsent(struct shell *shell) {
  struct buffer *unsent = &shell->unsent;
  while (unsent->length) {
    ssize_t put = write(shell->feed.fd, buffer_bytes(unsent), unsent->length);
    if (put < 0) break;
    buffer_consume(unsent, put);
  }
  source_watch(&shell->feed, unsent->length ? EPOLLOUT : 0);
}

static void feed_ready(struct source *source, uint32_t events) {
  (void)events;
  send_unsent(container_of(source, struct shell, feed));
}

/* After bash was reaped its pid is 0, which kill(2) takes for the agent's own group. */
void shell_kill(const struct shell *shell, int signal) {
  if (shell->child.pid > 0) kill(shell->child.pid, signal);
}

void shell_feed(struct shell *shell, const struct buffer *lines) {
  if (lines->failed || !buffer_append(&shell->unsent, buffer_bytes(lines), lines->length)) {
    /* Half a command must not run. The host learns of it from the end of the shell. */
    shell_kill(shell, SIGKILL);
    return;
  }
  send_unsent(shell);
}

void bash_release(struct shell *shell) {
  source_close(&shell->terminal);
  source_close(&shell->feed);
  close_fd(&shell->feed_reader);
  buffer_free(&shell->unsent);
}

/* The pipe that bash reads from. The agent holds both ends, so that bash never sees the end of it, and the agent never
 * gets EPIPE. */
static int open_feed(struct shell *shell) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  shell->feed_reader = ends[0];
  source_init(&shell->feed, ends[1], feed_ready);
  /* Only for the agent, which must not wait for bash. */
  return fcntl(ends[1], F_SETFL, O_NONBLOCK);
}

static const char *bash_path(void) {
  const char *configured = environment_shell();
  const char *base = configured ? strrchr(configured, '/') : NULL;
  return base && !strcmp(base, "/bash") ? configured : "bash";
}

static int execute_bash(struct shell *shell, const char *terminal, struct error *error) {
  autovector char **environment = environment_build(&shell->user, NULL, "xterm-256color", error);
  if (!environment) return -1;
  char *argv[] = {(char *)bash_path(), "--norc", "--noprofile", "--noediting", "-i", "+o", "history", NULL};
  const struct spawn program = {
      .argv = argv,
      .environment = environment,
      .directory = environment_start_directory(&shell->user, NULL),
      .user = &shell->user,
      .fds = {shell->feed_reader, -1, -1},
      .terminal = terminal,
  };
  pid_t pid;
  if (spawn(&program, &pid, error) == 0) {
    child_add(&shell->child, pid, shell_exited);
    return 0;
  }
  struct error why = *error;
  if (why.code != ENOENT) return -1;
  return error_refuse(error, why.code, "%s; install bash inside, or use process mode", why.text);
}

static int open_terminal(struct shell *shell, char path[PTY_PATH], struct error *error) {
  source_init(&shell->terminal, pty_open(80, 24, path, error), terminal_ready);
  if (shell->terminal.fd < 0) return -1;
  if (open_feed(shell) < 0) return error_set(error, errno, "pipe2 for shell '%s'", shell->name);
  if (source_watch(&shell->terminal, EPOLLIN) < 0)
    return error_set(error, errno, "epoll_ctl of the terminal of shell '%s'", shell->name);
  return 0;
}

int bash_start(struct shell *shell, struct error *error) {
  autobuffer struct buffer lines = {0};
  char terminal[PTY_PATH];
  if (open_terminal(shell, terminal, error) < 0 || execute_bash(shell, terminal, error) < 0) {
    bash_release(shell);
    return -1;
  }
  script_setup(&lines);
  shell_feed(shell, &lines);
  return 0;
}

void bash_init(struct shell *shell) {
  source_init(&shell->terminal, -1, terminal_ready);
  source_init(&shell->feed, -1, feed_ready);
  shell->feed_reader = -1;
  list_init(&shell->child.link);
}
