#define _GNU_SOURCE
#include "shell-script.h"

#include <stdio.h>
#include <string.h>

#include "call-pipe.h"

/* A backslash before a name, and `\builtin`, avoid aliases. readonly -f keeps commands from replacing the functions.
 *
 * __fp_begin and __fp_report leave $? as it was, except under `set -e`, where a failing return would end the shell. A
 * report that was interrupted is sent again, so __fp_report answers only once for each command. */
#define KEEP_STATUS " case $- in *e*) ;; *) \\builtin return \"$1\";; esac; }\n"

static const char setup[] =
    "PS1= PS2=; \\set +H; \\set +o history\n"
    "__fp_begin() { \\builtin printf 'b\\n' >|\"$2\";" KEEP_STATUS
    "__fp_enter() { __fp_home=$PWD __fp_old=${OLDPWD-}; \\builtin cd -- \"$1\" >/dev/null 2>&1; }\n"
    "__fp_report() {"
    " if [[ -n ${__fp_home-} ]]; then"
    " \\builtin cd -- \"$__fp_home\" >/dev/null 2>&1; OLDPWD=$__fp_old; \\builtin unset __fp_home __fp_old; fi;"
    " if [[ $3 != \"${__fp_last-}\" ]]; then"
    " \\builtin printf '%s\\n' \"$1\" >|\"$2\"; __fp_last=$3; fi;" KEEP_STATUS
    "\\builtin readonly -f __fp_begin __fp_enter __fp_report\n";

static void add(struct buffer *lines, const char *text) { buffer_append(lines, text, strlen(text)); }

static void add_quoted(struct buffer *lines, const char *text) {
  add(lines, "'");
  for (;;) {
    size_t plain = strcspn(text, "'");
    buffer_append(lines, text, plain);
    text += plain;
    if (!*text) break;
    add(lines, "'\\''");
    text++;
  }
  add(lines, "'");
}

static void add_variables(struct buffer *lines, char *const *variables) {
  for (; *variables; variables++) {
    const char *value = strchr(*variables, '=') + 1;
    buffer_append(lines, *variables, value - *variables);
    add_quoted(lines, value);
    add(lines, " ");
  }
}

static void add_end(struct buffer *lines, const char *operator, const struct shell_call * call, int fd) {
  char path[CALL_PIPE_PATH];
  call_pipe_path(&call->shell->user, fd, path);
  add(lines, operator);
  add(lines, path);
}

void script_setup(struct buffer *lines) { add(lines, setup); }

/* Enters the command's directory. If that fails, the second `cd` says why, and the command does not run. */
static void add_directory(struct buffer *lines, const struct shell_call *call) {
  add(lines, "\\__fp_enter ");
  add_quoted(lines, call->cwd);
  add(lines, " || \\builtin cd -- ");
  add_quoted(lines, call->cwd);
  add_end(lines, " 2>|", call, call->err_writer);
  add(lines, " && ");
}

static void add_eval(struct buffer *lines, const struct shell_call *call) {
  add_variables(lines, call->variables);
  /* `command` exports the variables that are set before it, and `builtin` does not. */
  add(lines, *call->variables ? "\\command eval -- " : "\\builtin eval -- ");
  add_quoted(lines, call->text);
}

/* The inner process is the copy: it waits at the gate until the outer one, which made it, has ended. `set -m` gives it
 * a process group of its own, and the signals that a command in the foreground has; the outer one is in the foreground,
 * so this does not take the terminal from anybody. `<&0` keeps bash from giving it /dev/null. Only eval has the
 * command's outputs, as in the shell itself. */
static void add_copy(struct buffer *lines, const struct shell_call *call) {
  add_end(lines, "( \\exec {__fp_gate}<", call, call->gate_reader);
  add_end(lines, " {__fp_out}>|", call, call->out_writer);
  add_end(lines, " {__fp_err}>|", call, call->err_writer);
  add(lines, "; \\set -m; { \\set +m; \\builtin read -r -u \"$__fp_gate\" __fp_line || \\builtin exit 1; ");
  if (call->cwd) {
    add(lines, "\\builtin cd -- ");
    add_quoted(lines, call->cwd);
    add(lines, " >/dev/null 2>&\"$__fp_err\" && ");
  }
  add_eval(lines, call);
  add(lines, " >&\"$__fp_out\" 2>&\"$__fp_err\" {__fp_gate}<&- {__fp_out}>&- {__fp_err}>&-; } <&0 & ");
  add_end(lines, "\\builtin printf 'p%s\\n' \"$!\" >|", call, call->status_writer);
  add(lines, " )");
}

/* With __fp_begin the agent knows that bash has read the whole line and opened stdin. Only then may bash be
 * interrupted: an interrupt in the middle of a line would leave the rest to run as a command of its own. What `set -x`
 * prints about these lines goes to the terminal, because only eval has the command's outputs. */
void script_command(struct buffer *lines, const struct shell_call *call) {
  add_end(lines, "{ \\__fp_begin \"$?\" ", call, call->status_writer);
  add(lines, "; ");
  if (call->in_copy) {
    add_copy(lines, call);
  } else {
    if (call->cwd) add_directory(lines, call);
    add_eval(lines, call);
    add_end(lines, " >|", call, call->out_writer);
    add_end(lines, " 2>|", call, call->err_writer);
  }
  add(lines, "; }");
  if (call->with_stdin)
    add_end(lines, " <", call, call->stdin_reader);
  else
    add(lines, " </dev/null");
  add(lines, "\n");
}

void script_report(struct buffer *lines, const struct shell_call *call) {
  char number[32];
  add_end(lines, "\\__fp_report \"$?\" ", call, call->status_writer);
  snprintf(number, sizeof number, " %lu\n", call->number);
  add(lines, number);
}
