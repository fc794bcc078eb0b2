#define _GNU_SOURCE
#include "exec-operations.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command-stream.h"
#include "command-watch.h"
#include "command.h"
#include "exec-process.h"
#include "exec-shell.h"
#include "history.h"
#include "records.h"
#include "stream.h"
#include "util.h"

#define MAX_COMMANDS 2048
#define DEFAULT_GRACE_MS 2000

/* How much of a long command a listing shows: records are bounded. */
#define LISTED_TEXT 4096

/* The command that the fields name, or NULL after an error was sent. */
static struct command *named_command(struct stream *stream, const struct fields *fields) {
  autofree char *id = fields_string(fields, KEY_ID);
  struct command *command = id ? command_find(id) : NULL;
  if (!command) stream_refuse(stream, ENOENT, "no command '%.80s' is known", id ? id : "");
  return command;
}

static int read_text(struct command *command, const struct fields *fields, struct error *error) {
  if (fields_optional(fields, KEY_COMMAND, &command->text, error) < 0) return -1;
  if (!command->text && fields_optional(fields, KEY_ARGV, &command->text, error) < 0) return -1;
  return command->text ? 0 : error_refuse(error, EINVAL, "neither a command nor an argv was given");
}

/* Once the command runs, only listings need its text. */
static void shorten(struct command *command) {
  if (strlen(command->text) <= LISTED_TEXT) return;
  command->text[LISTED_TEXT] = 0;
  char *shorter = realloc(command->text, LISTED_TEXT + 1);
  if (shorter) command->text = shorter;
}

static int run(struct command *command, const struct fields *fields, struct error *error) {
  command->timeout_ms = fields_int(fields, KEY_TIMEOUT_MS, 0);
  command->grace_ms = fields_int(fields, KEY_GRACE_MS, DEFAULT_GRACE_MS);
  if (read_text(command, fields, error) < 0) return -1;
  return command->mode == MODE_SHELL ? shell_start(command, fields, error) : process_start(command, fields, error);
}

static void start(struct stream *stream, const struct fields *fields, const char *id) {
  bool in_shell = fields_int(fields, KEY_MODE_EXEC, MODE_PROCESS) == MODE_SHELL;
  struct command *command = command_new(id, in_shell ? MODE_SHELL : MODE_PROCESS);
  struct error error;
  if (!command) {
    stream_fail_call(stream, ENOMEM, "calloc of a command");
    return;
  }
  command_register(command);
  command_hold(command, stream, fields);
  if (run(command, fields, &error) < 0)
    command_abandon(command, &error);
  else
    shorten(command);
}

void op_exec_start(struct stream *stream, const struct fields *fields) {
  autofree char *id = fields_string(fields, KEY_ID);
  autofree char *cwd = fields_string(fields, KEY_CWD);
  struct command *known = id ? command_find(id) : NULL;
  if (!id || !name_valid(id))
    stream_refuse(stream, EINVAL, "id '%.80s' is not 1 to 64 of A-Z a-z 0-9 _ -", id ? id : "");
  else if (known)
    command_attach(known, stream, fields);
  else if (fields_has(fields, KEY_CWD) && (!cwd || *cwd != '/'))
    stream_refuse(stream, EINVAL, "cwd '%.400s' is not an absolute path", cwd ? cwd : "");
  else if (commands_running() >= MAX_COMMANDS)
    stream_refuse(stream, EAGAIN, "%d commands are running; end one first", MAX_COMMANDS);
  else
    start(stream, fields, id);
}

/* Whoever reads along may also read the last command, which nobody can hold any more. */
void op_exec_attach(struct stream *stream, const struct fields *fields) {
  bool watches = fields_int(fields, KEY_FLAGS, 0) & ATTACH_WATCH;
  autofree char *id = fields_string(fields, KEY_ID);
  struct command *command = watches && id && !command_find(id) ? command_find_last(id) : NULL;
  if (!command) command = named_command(stream, fields);
  if (!command) return;
  if (watches)
    command_watch(command, stream, fields);
  else
    command_attach(command, stream, fields);
}

void op_exec_signal(struct stream *stream, const struct fields *fields) {
  struct command *command = named_command(stream, fields);
  int64_t signal = fields_int(fields, KEY_SIGNAL, 0);
  if (!command) return;
  if (signal < 1 || signal >= NSIG) {
    stream_refuse(stream, EINVAL, "signal %lld does not exist", (long long)signal);
    return;
  }
  /* First, because the signal may be the end of the command. */
  if (fields_has(fields, KEY_GRACE_MS)) command_kill_after(command, fields_int(fields, KEY_GRACE_MS, DEFAULT_GRACE_MS));
  if (!command_signal(command, signal))
    stream_refuse(stream, ESRCH, "command '%s' has no process to signal", command->id);
  else
    stream_done(stream);
}

static void list_ended(struct stream *stream) {
  autobuffer struct buffer records = {0};
  history_put(&records);
  records_send(stream, &records);
}

void op_exec_list(struct stream *stream, const struct fields *fields) {
  autobuffer struct buffer records = {0};
  int flags = (int)fields_int(fields, KEY_FLAGS, 0);
  if (flags & LIST_ENDED) {
    list_ended(stream);
    return;
  }
  list_for_each(node, &commands) {
    struct command *command = container_of(node, struct command, link);
    if (command->is_last && !(flags & LIST_LAST)) continue;
    size_t record = record_begin(&records);
    put_string(&records, KEY_ID, command->id);
    put_int(&records, KEY_MODE_EXEC, command->mode);
    if (command->in_copy) put_int(&records, KEY_FLAGS, EXEC_IN_COPY);
    if (command->shell) put_string(&records, KEY_SHELL, command->shell);
    put_string(&records, KEY_COMMAND, command->text);
    put_int(&records, KEY_PID, command->pid);
    put_int(&records, KEY_RUNNING, command->state < COMMAND_ENDING);
    put_int(&records, KEY_DURATION_US, command_duration_us(command));
    put_int(&records, KEY_STDOUT_OFFSET, command->out.ring.end);
    put_int(&records, KEY_STDERR_OFFSET, command->err.ring.end);
    if (command->state >= COMMAND_ENDING) command_put_outcome(&records, command);
    record_end(&records, record);
  }
  records_send(stream, &records);
}

void op_exec_forget(struct stream *stream, const struct fields *fields) {
  struct command *command = named_command(stream, fields);
  if (!command) return;
  if (command->state < COMMAND_ENDING) {
    stream_refuse(stream, EBUSY, "command '%s' is still running", command->id);
    return;
  }
  if (command->holder) stream_refuse(command->holder, ECANCELED, "command '%s' was forgotten", command->id);
  if (fields_int(fields, KEY_FLAGS, 0) & FORGET_BUT_LAST)
    command_retire(command);
  else
    command_free(command);
  stream_done(stream);
}
