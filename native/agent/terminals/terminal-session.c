#define _GNU_SOURCE
#include "terminal-session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "environment.h"
#include "pty.h"
#include "spawn.h"
#include "stream.h"
#include "util.h"

#define MAX_TERMINALS 64
#define SLICE 16384
#define CLOSE_MS 1000

struct list terminals = LIST_INIT(terminals);

struct terminal *terminal_find(const char *name) {
  list_for_each(node, &terminals) {
    struct terminal *terminal = container_of(node, struct terminal, link);
    if (!terminal->closing && !strcmp(terminal->name, name)) return terminal;
  }
  return NULL;
}

void terminal_release(struct terminal *terminal) {
  if (!terminal->ended || !terminal->closing || !list_empty(&terminal->viewers)) return;
  list_remove(&terminal->link);
  timer_stop(&terminal->kill_timer);
  source_close(&terminal->master);
  ring_free(&terminal->ring);
  free(terminal);
}

static void wake_viewers(struct terminal *terminal) {
  list_for_each(node, &terminal->viewers) stream_wake(container_of(node, struct viewer, link)->stream);
}

/* Output never waits for a viewer: new bytes overwrite the oldest. */
static bool show(struct terminal *terminal, const uint8_t *bytes, size_t length) {
  while (length) {
    struct iovec space[2];
    terminal->ring.keep_from = terminal->ring.end;
    size_t room = ring_space(&terminal->ring, length, space);
    if (!room) return false;
    size_t first = min_size(room, space[0].iov_len);
    memcpy(space[0].iov_base, bytes, first);
    if (room > first) memcpy(space[1].iov_base, bytes + first, room - first);
    ring_added(&terminal->ring, room);
    bytes += room;
    length -= room;
  }
  return true;
}

/* False if there is nothing to read now, or ever again. */
static bool read_some(struct terminal *terminal) {
  static uint8_t bytes[SLICE];
  ssize_t got = read(terminal->master.fd, bytes, sizeof bytes);
  if (got > 0) return show(terminal, bytes, got);
  /* EIO means that no program has the slave open, which epoll would report forever. */
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) source_watch(&terminal->master, 0);
  return false;
}

int terminal_resize(struct terminal *terminal, struct size size) {
  if (!terminal->ended && pty_resize(terminal->master.fd, size.cols, size.rows) < 0) return -1;
  terminal->size = size;
  return 0;
}

void terminal_type(struct terminal *terminal) {
  bool blocked = false;
  list_for_each(node, &terminal->viewers) {
    struct viewer *viewer = container_of(node, struct viewer, link);
    while (viewer->typed.length && !blocked) {
      ssize_t put = write(terminal->master.fd, buffer_bytes(&viewer->typed), viewer->typed.length);
      blocked = put <= 0;
      if (put > 0) {
        buffer_consume(&viewer->typed, put);
        stream_consumed(viewer->stream, put);
      }
    }
  }
  if (terminal->master.events) source_watch(&terminal->master, blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void master_ready(struct source *source, uint32_t events) {
  struct terminal *terminal = container_of(source, struct terminal, master);
  if (events & EPOLLOUT) terminal_type(terminal);
  if (read_some(terminal)) wake_viewers(terminal);
}

static void program_exited(struct child *child, int wait_status) {
  struct terminal *terminal = container_of(child, struct terminal, child);
  /* The pty still has what the program wrote. Processes that it left may keep writing, so this stops after one ring. */
  for (size_t read = 0; read < RING_MAX && read_some(terminal); read += SLICE) continue;
  source_close(&terminal->master);
  timer_stop(&terminal->kill_timer);
  terminal->ended = true;
  terminal->wait_status = wait_status;
  wake_viewers(terminal);
  terminal_release(terminal);
}

static void kill_now(struct timer *timer) {
  child_kill_group(&container_of(timer, struct terminal, kill_timer)->child, SIGKILL);
}

void terminal_hang_up(struct terminal *terminal) {
  terminal->closing = true;
  if (!terminal->ended) {
    pid_t foreground = tcgetpgrp(terminal->master.fd);
    child_kill_group(&terminal->child, SIGHUP);
    child_kill_group(&terminal->child, SIGCONT);
    if (foreground > 1 && foreground != terminal->pid) kill(-foreground, SIGHUP);
    if (timer_start(&terminal->kill_timer, CLOSE_MS) < 0) child_kill_group(&terminal->child, SIGKILL);
  }
  terminal_release(terminal);
}

/* Frees ended terminals, which are kept to show their last screen, if there are too many. False if that is not enough.
 */
static bool make_room(void) {
  size_t count = 0;
  list_for_each(node, &terminals) count++;
  list_for_each_safe(node, &terminals) {
    struct terminal *terminal = container_of(node, struct terminal, link);
    if (count < MAX_TERMINALS) break;
    if (!terminal->ended || !list_empty(&terminal->viewers)) continue;
    terminal->closing = true;
    terminal_release(terminal);
    count--;
  }
  return count < MAX_TERMINALS;
}

static struct terminal *terminal_new(const char *name, struct size size) {
  struct terminal *terminal = calloc(1, sizeof *terminal);
  if (!terminal) return NULL;
  strcpy(terminal->name, name);
  terminal->size = size;
  list_init(&terminal->viewers);
  list_init(&terminal->child.link);
  source_init(&terminal->master, -1, master_ready);
  timer_init(&terminal->kill_timer, kill_now);
  list_append(&terminals, &terminal->link);
  return terminal;
}

static int start_program(struct terminal *terminal, const struct spawn *program, struct error *error) {
  pid_t pid;
  if (spawn(program, &pid, error) < 0) return -1;
  terminal->pid = pid;
  child_add(&terminal->child, pid, program_exited);
  if (source_watch(&terminal->master, EPOLLIN) < 0)
    return error_set(error, errno, "epoll_ctl of terminal '%s'", terminal->name);
  return 0;
}

/* Runs the program of the fields on the terminal, by default the login shell. */
static int run(struct terminal *terminal, const struct fields *fields, struct error *error) {
  autofree char **argv = NULL, **own = NULL;
  autofree char *cwd = NULL, *name = NULL;
  autouser struct user user = {0};
  char path[PTY_PATH], login_name[64];
  if (fields_strings(fields, KEY_ARGV, &argv, error) < 0 || fields_strings(fields, KEY_ENV, &own, error) < 0 ||
      fields_optional(fields, KEY_CWD, &cwd, error) < 0 || fields_optional(fields, KEY_USER, &name, error) < 0 ||
      check_variables(own, NAMES_ANY, error) < 0 || user_find(&user, name, error) < 0)
    return -1;
  autovector char **environment = environment_build(&user, own, "xterm-256color", error);
  if (!environment) return -1;
  terminal->master.fd = pty_open(terminal->size.cols, terminal->size.rows, path, error);
  if (terminal->master.fd < 0) return -1;
  const char *shell = environment_shell() ? environment_shell() : user.shell;
  const char *base = strrchr(shell, '/');
  snprintf(login_name, sizeof login_name, "-%s", base ? base + 1 : shell);
  char *login[] = {(char *)shell, NULL};
  const struct spawn program = {
      .argv = *argv ? argv : login,
      .argv0 = *argv ? NULL : login_name,
      .environment = environment,
      .directory = environment_start_directory(&user, cwd),
      .directory_asked = cwd != NULL,
      .user = &user,
      .fds = {-1, -1, -1},
      .terminal = path,
  };
  return start_program(terminal, &program, error);
}

struct terminal *terminal_start(const char *name, const struct fields *fields, struct error *error) {
  struct size size = {fields_int(fields, KEY_COLS, 80), fields_int(fields, KEY_ROWS, 24)};
  if (!make_room()) return error_refuse(error, EAGAIN, "64 terminals are open; close one first"), NULL;
  struct terminal *terminal = terminal_new(name, size);
  if (!terminal) return error_set(error, ENOMEM, "calloc of a terminal"), NULL;
  if (run(terminal, fields, error) == 0) return terminal;
  terminal->ended = terminal->closing = true;
  child_kill_group(&terminal->child, SIGKILL);
  child_forget(&terminal->child);
  terminal_release(terminal);
  return NULL;
}
