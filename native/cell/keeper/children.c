/* The processes that the keeper has started: their output, and the answer when they end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "keeper.h"
#include "report.h"
#include "shared/owned.h"

#define KEPT_ERRORS (64 << 10)
#define CHUNK (16 << 10)
#define CANNOT_RUN 127 /* also in run-tool.ts */

struct child *children[MOST_CHILDREN];
size_t child_count;

/* The kernel decides how many are too many for a program. */
char **split_words(char *bytes, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += !bytes[i];
  char **words = require_memory(calloc(count + 1, sizeof *words));
  for (size_t i = 0; i < count; bytes += strlen(bytes) + 1) words[i++] = bytes;
  return words;
}

/* If writing fails, the reader is gone, and the end of input will end the keeper. */
static void send_answer(uint32_t id, int32_t status, const struct output *out, const struct output *errors) {
  uint32_t head[] = {id, (uint32_t)status, (uint32_t)out->length, (uint32_t)errors->length};
  write_all(STDOUT_FILENO, head, sizeof head);
  write_all(STDOUT_FILENO, out->text, out->length);
  write_all(STDOUT_FILENO, errors->text, errors->length);
}

void answer(const struct child *child, int32_t status) { send_answer(child->id, status, &child->out, &child->errors); }

static void answer_saying(uint32_t id, int32_t status, const char *text) {
  struct output nothing = {0}, errors = {.text = (char *)text, .length = strlen(text)};
  send_answer(id, status, &nothing, &errors);
}

void answer_failure(const struct request *request, const struct error *error) {
  char text[sizeof error->text + 32];
  snprintf(text, sizeof text, "%s (errno %d)\n", error->text, error->code);
  answer_saying(request->id, CANNOT_RUN, text);
}

static bool take_chunk(struct output *output) {
  if (output->room - output->length < CHUNK) {
    output->room = 2 * output->room + CHUNK;
    output->text = require_memory(realloc(output->text, output->room));
  }
  ssize_t n = read(output->fd, output->text + output->length, CHUNK);
  if (n > 0) output->length += (size_t)n;
  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return n > 0;
  close(output->fd);
  output->fd = -1;
  return false;
}

/* Ends a program that prints more than anybody wants to read. */
bool take_output(struct child *child) {
  bool some = take_chunk(&child->out);
  if (child->out.length <= MOST_BYTES) return some;
  child->out.length = 0;
  child->says_too_much = true;
  syscall(SYS_pidfd_send_signal, child->process, SIGKILL, NULL, 0); /* its pid may belong to another by now */
  return some;
}

/* Keeps only the end of long error output. */
bool take_errors(struct child *child) {
  struct output *errors = &child->errors;
  bool some = take_chunk(errors);
  if (errors->length <= KEPT_ERRORS) return some;
  memmove(errors->text, errors->text + errors->length - KEPT_ERRORS, KEPT_ERRORS);
  errors->length = KEPT_ERRORS;
  return some;
}

/* Only what has been written by now: the child may have left processes that hold its output open forever. */
static void take_rest(struct child *child, const struct output *output, bool (*take)(struct child *)) {
  int left = 0;
  if (output->fd < 0 || ioctl(output->fd, FIONREAD, &left)) return;
  for (; left > 0 && take(child); left -= CHUNK) continue;
}

struct pipe {
  int reader, writer;
};

static void close_pipe(struct pipe *pipe) {
  cleanup_close(&pipe->reader);
  cleanup_close(&pipe->writer);
}

#define autopipe __attribute__((cleanup(close_pipe)))

/* A pipe that we read without waiting. {-1, -1} with errno. */
static struct pipe open_pipe(void) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return (struct pipe){-1, -1};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return (struct pipe){ends[0], ends[1]};
}

__attribute__((noreturn)) static void be_child(const struct request *request, become *become, const int stdio[3]) {
  signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < 3; i++)
    if (dup2(stdio[i], i) < 0) _exit(CANNOT_RUN);
  if (syscall(SYS_close_range, 3, ~0U, 0)) _exit(CANNOT_RUN);
  become(request);
  _exit(CANNOT_RUN);
}

struct child *start_child(const struct request *request, become *become, int input, struct error *error) {
  autoclose int input_end = input;
  autopipe struct pipe out = open_pipe(), errors = open_pipe();
  if (out.writer < 0 || errors.writer < 0) return error_set(error, errno, "pipe2"), NULL;
  autofree struct child *child = calloc(1, sizeof *child);
  if (!child) return error_set(error, errno, "calloc"), NULL;
  pid_t pid = fork();
  if (pid < 0) return error_set(error, errno, "fork"), NULL;
  if (pid == 0) be_child(request, become, (int[]){input_end, out.writer, errors.writer});
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  if (process < 0) {
    error_set(error, errno, "pidfd_open %d", pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return NULL;
  }
  *child = (struct child){.id = request ? request->id : 0, .pid = pid, .process = process, .input = -1};
  child->out.fd = take_fd(&out.reader);
  child->errors.fd = take_fd(&errors.reader);
  return children[child_count++] = take_pointer(&child);
}

void kill_child(uint32_t id) {
  for (size_t i = 0; i < child_count; i++)
    if (children[i]->id == id) kill(children[i]->pid, SIGKILL);
}

/* The exit code, or a signal as a negative number. */
static int32_t outcome(int wait_status) {
  return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

void forget_child(size_t index) {
  struct child *child = children[index];
  int status = 0;
  waitpid(child->pid, &status, 0);
  take_rest(child, &child->out, take_output);
  take_rest(child, &child->errors, take_errors);
  forget_worker(child);
  answer_line(child);
  if (child->talks && !child->has_said) answer(&(struct child){.id = child->id}, 0); /* an empty line */
  if (child->id && child->says_too_much)
    answer_saying(child->id, -SIGKILL, "it said more than 16 MiB\n");
  else if (child->id && !child->answered)
    answer(child, outcome(status));
  int fds[] = {child->process, child->input, child->out.fd, child->errors.fd};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
    if (fds[i] >= 0) close(fds[i]);
  free(child->out.text);
  free(child->errors.text);
  free(child);
  children[index] = children[--child_count];
}
