#define _GNU_SOURCE
#include "exec-shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment.h"
#include "records.h"
#include "shell.h"
#include "stream.h"
#include "util.h"

#define DEFAULT_SHELL "main"
#define MAX_SHELLS 64
#define MAX_QUEUED 1024

static int check_directory(const char *path, struct error *error) {
  struct stat status;
  if (stat(path, &status) < 0) return error_set(error, errno, "cannot enter directory '%s'", path);
  if (!S_ISDIR(status.st_mode)) return error_set(error, ENOTDIR, "cannot enter directory '%s'", path);
  return 0;
}

static int make_call(struct command *command, const struct fields *fields, struct error *error) {
  struct shell_call *call = calloc(1, sizeof *call);
  if (!call) return error_set(error, ENOMEM, "calloc of a shell command");
  command->call = call;
  call->command = command;
  call->status_writer = call->out_writer = call->err_writer = call->stdin_reader = -1;
  call->gate_reader = call->gate_writer = -1;
  list_init(&call->link);
  source_init(&call->status, -1, NULL);
  call->with_stdin = fields_int(fields, KEY_STDIN, 0) == 1;
  call->in_copy = command->in_copy = fields_int(fields, KEY_FLAGS, 0) & EXEC_IN_COPY;
  call->text = strdup(command->text);
  if (!call->text) return error_set(error, ENOMEM, "malloc of a shell command");
  if (fields_optional(fields, KEY_CWD, &call->cwd, error) < 0 ||
      fields_strings(fields, KEY_ENV, &call->variables, error) < 0 ||
      check_variables(call->variables, NAMES_IDENTIFIERS, error) < 0)
    return -1;
  return call->cwd ? check_directory(call->cwd, error) : 0;
}

static size_t length_of(const struct list *head) {
  size_t count = 0;
  list_for_each(node, head) count++;
  return count;
}

/* The shell of this name, which is started if it does not exist. NULL with an error. */
static struct shell *find_or_make(const char *name, struct error *error) {
  struct shell *shell = shell_find(name);
  if (!shell && length_of(&shells) >= MAX_SHELLS)
    return error_refuse(error, EAGAIN, "64 shells are open; close one first"), NULL;
  if (!shell) return shell_new(name, error);
  if (length_of(&shell->queue) >= MAX_QUEUED)
    return error_refuse(error, EAGAIN, "%d commands wait in shell '%s'; use another shell", MAX_QUEUED, name), NULL;
  return shell;
}

int shell_start(struct command *command, const struct fields *fields, struct error *error) {
  if (fields_optional(fields, KEY_SHELL, &command->shell, error) < 0) return -1;
  if (!command->shell) command->shell = strdup(DEFAULT_SHELL);
  if (!command->shell) return error_set(error, ENOMEM, "malloc");
  if (!name_valid(command->shell))
    return error_refuse(error, EINVAL, "shell name '%.80s' is not 1 to 64 of A-Z a-z 0-9 _ -", command->shell);
  if (fields_has(fields, KEY_USER))
    return error_refuse(error, EINVAL, "a shell runs as the default user; use process mode for another");
  if (!fields_has(fields, KEY_COMMAND)) return error_refuse(error, EINVAL, "a shell runs a command, not an argv");
  if (make_call(command, fields, error) < 0) return -1;
  struct shell *shell = find_or_make(command->shell, error);
  return shell ? shell_add(shell, command->call, error) : -1;
}

void op_shell_list(struct stream *stream, const struct fields *fields) {
  autobuffer struct buffer records = {0};
  (void)fields;
  list_for_each(node, &shells) {
    struct shell *shell = container_of(node, struct shell, link);
    char link[64], directory[4096];
    snprintf(link, sizeof link, "/proc/%d/cwd", shell->child.pid);
    ssize_t length = readlink(link, directory, sizeof directory);
    size_t record = record_begin(&records);
    put_string(&records, KEY_SHELL, shell->name);
    put_int(&records, KEY_PID, shell->child.pid);
    put_int(&records, KEY_RUNNING, shell->current != NULL);
    if (length > 0) put_bytes(&records, KEY_CWD, directory, length);
    record_end(&records, record);
  }
  records_send(stream, &records);
}

void op_shell_close(struct stream *stream, const struct fields *fields) {
  autofree char *given = NULL;
  struct error error;
  if (fields_optional(fields, KEY_SHELL, &given, &error) < 0) {
    stream_fail(stream, &error);
    return;
  }
  const char *name = given ? given : DEFAULT_SHELL;
  struct shell *shell = shell_find(name);
  if (!shell) {
    stream_refuse(stream, ENOENT, "no shell '%.80s' is open", name);
    return;
  }
  shell_close(shell);
  stream_done(stream);
}
