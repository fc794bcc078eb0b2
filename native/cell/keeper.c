/* Starts processes for Node, whose own way of doing it stops it for milliseconds, and keeps workers
 * ready (see worker.c). A request on stdin is four 32-bit numbers (id, kind, lengths of arguments and
 * input) and those bytes; an answer on stdout is four numbers (id, exit status, lengths of output and
 * errors) and those bytes. Arguments end with NUL. End of input ends the keeper. */
#define _GNU_SOURCE
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind { RUN, JOB, PREPARE, DISMISS, KILL };

#define MOST_CHILDREN 1024
#define MOST_READY 8
#define MOST_BYTES (16 << 20) /* of arguments, input or output; also in keeper.ts */
#define KEPT_ERRORS (64 << 10)
#define CHUNK (16 << 10)
/* Workers are loaded some time after the last job: who goes on at once has the CPUs. A snapshot takes
 * two; what follows it at once finds others. */
#define LEAST_READY 2
#define LEAST_REST_MS 30
#define MOST_KEPT 4
#define REST_MS 150
#define PATIENCE_MS 30000 /* a worker keeps the host's mounts busy, so it does not wait for ever */

struct request {
  uint32_t id, kind, arguments_length, input_length;
  char *arguments, *input;
};

struct output {
  int fd; /* -1 when it ended */
  size_t length, room;
  char *text;
};

struct child {
  uint32_t id;
  pid_t pid;
  int process;   /* a descriptor that becomes readable when it ends */
  int input;     /* of a worker, else -1; its end tells the worker that we are gone */
  bool answered; /* a worker has, before it ends */
  bool says_too_much;
  struct output out, errors;
};

static struct child *children[MOST_CHILDREN];
static size_t child_count;
static struct child *ready[MOST_READY];
static size_t ready_count;
static char **worker_arguments;
static int worker_argument_count;
static bool may_load;  /* since workers were asked for, none has ended before its job */
static long last_work; /* when a job was given or done */

static long now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* False if its reader is gone, who knows that. */
static bool write_all(int fd, const void *bytes, size_t length) {
  for (size_t used = 0; used < length;) {
    ssize_t n = write(fd, (const char *)bytes + used, length - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    used += (size_t)n;
  }
  return true;
}

static bool read_all(void *to, size_t length) {
  for (size_t used = 0; used < length;) {
    ssize_t n = read(STDIN_FILENO, (char *)to + used, length - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    used += (size_t)n;
  }
  return true;
}

static char *read_bytes(uint32_t length) {
  char *bytes = length > MOST_BYTES ? NULL : malloc((size_t)length + 1);
  if (!bytes || !read_all(bytes, length)) _exit(0);
  bytes[length] = 0;
  return bytes;
}

/* How many are too many for a program is the kernel's to say. */
static char **split(char *bytes, size_t length, int *argc) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += !bytes[i];
  char **argv = calloc(count + 1, sizeof *argv);
  if (!argv) die("calloc", "arguments");
  *argc = 0;
  for (char *at = bytes; (size_t)*argc < count; at += strlen(at) + 1) argv[(*argc)++] = at;
  return argv;
}

static void answer(const struct child *child, int32_t status) {
  uint32_t head[] = {child->id, (uint32_t)status, (uint32_t)child->out.length, (uint32_t)child->errors.length};
  write_all(STDOUT_FILENO, head, sizeof head);
  write_all(STDOUT_FILENO, child->out.text, child->out.length);
  write_all(STDOUT_FILENO, child->errors.text, child->errors.length);
}

/* Whether a chunk of it was read. */
static bool take_chunk(struct output *output) {
  if (output->room - output->length < CHUNK) {
    output->room = 2 * output->room + CHUNK;
    if (!(output->text = realloc(output->text, output->room))) die("realloc", "output");
  }
  ssize_t n = read(output->fd, output->text + output->length, CHUNK);
  if (n > 0) output->length += (size_t)n;
  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return n > 0;
  close(output->fd);
  output->fd = -1;
  return false;
}

/* A program that says more than anybody wants to read is ended. */
static bool take_output(struct child *child) {
  bool some = take_chunk(&child->out);
  if (child->out.length <= MOST_BYTES) return some;
  child->out.length = 0;
  child->says_too_much = true;
  syscall(SYS_pidfd_send_signal, child->process, SIGKILL, NULL, 0); /* it may have been waited for */
  return some;
}

/* Only the end of long complaints is kept. */
static bool take_errors(struct child *child) {
  struct output *errors = &child->errors;
  bool some = take_chunk(errors);
  if (errors->length <= KEPT_ERRORS) return some;
  memmove(errors->text, errors->text + errors->length - KEPT_ERRORS, KEPT_ERRORS);
  errors->length = KEPT_ERRORS;
  return some;
}

/* What is there by now is all: children of its own may have its output open for ever. */
static void take_rest(struct child *child, const struct output *output, bool (*take)(struct child *)) {
  int left = 0;
  if (output->fd < 0 || ioctl(output->fd, FIONREAD, &left)) return;
  for (; left > 0 && take(child); left -= CHUNK) continue;
}

static void open_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC)) die("pipe2", "child");
}

/* What a child does instead of this program's own work. */
typedef void become(const struct request *request);

static struct child *start(const struct request *request, become *become, int input) {
  int out[2], errors[2];
  open_pipe(out);
  open_pipe(errors);
  pid_t pid = fork();
  if (pid < 0) die("fork", "child");
  if (pid == 0) {
    signal(SIGPIPE, SIG_DFL);
    if (dup2(input, 0) < 0 || dup2(out[1], 1) < 0 || dup2(errors[1], 2) < 0) _exit(127);
    if (syscall(SYS_close_range, 3, ~0U, 0)) _exit(127);
    become(request);
    _exit(127);
  }
  close(input);
  close(out[1]);
  close(errors[1]);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(errors[0], F_SETFL, O_NONBLOCK);
  struct child *child = calloc(1, sizeof *child);
  if (!child) die("calloc", "child");
  *child = (struct child){.id = request ? request->id : 0, .pid = pid, .input = -1,
                          .out = {.fd = out[0]}, .errors = {.fd = errors[0]}};
  child->process = (int)syscall(SYS_pidfd_open, pid, 0);
  if (child->process < 0) die("pidfd_open", "child");
  children[child_count++] = child;
  return child;
}

static void become_program(const struct request *request) {
  int argc;
  char **argv = split(request->arguments, request->arguments_length, &argc);
  if (!argc) _exit(127);
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
}

static void become_worker(const struct request *request) {
  (void)request;
  static struct spec spec;
  char **program = worker_arguments + parse_options(&spec, worker_argument_count, worker_arguments);
  exit(run_worker(&spec, program));
}

/* Its input lies in memory: a program that is slow to read it must not keep everybody else waiting. */
static void run_program(const struct request *request) {
  bool has_input = request->input_length > 0;
  int input = has_input ? memfd_create("input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) die(has_input ? "memfd_create" : "open", "input");
  if (!write_all(input, request->input, request->input_length)) die("write", "input");
  if (has_input && lseek(input, 0, SEEK_SET)) die("lseek", "input");
  start(request, become_program, input);
}

static struct child *start_worker(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) die("socketpair", "worker");
  struct child *worker = start(NULL, become_worker, ends[1]);
  worker->input = ends[0];
  return worker;
}

/* A worker that was not taken sees the end of its input. */
static void dismiss_workers(void) {
  while (ready_count > 0) {
    struct child *child = ready[--ready_count];
    close(child->input);
    child->input = -1;
  }
}

static void load_workers(size_t count) {
  while (may_load && ready_count < count && child_count < MOST_CHILDREN) ready[ready_count++] = start_worker();
}

/* The one that was started first is the likeliest to be loaded. */
static struct child *take_worker(void) {
  if (!ready_count) return start_worker();
  struct child *worker = ready[0];
  memmove(ready, ready + 1, --ready_count * sizeof *ready);
  return worker;
}

static void give_job(const struct request *request) {
  struct child *worker = take_worker();
  worker->id = request->id;
  write_all(worker->input, &request->arguments_length, sizeof request->arguments_length);
  write_all(worker->input, request->arguments, request->arguments_length);
  write_all(worker->input, &request->input_length, sizeof request->input_length);
  write_all(worker->input, request->input, request->input_length);
  last_work = now_ms();
}

static void prepare_workers(const struct request *request) {
  static char *kept;
  static uint32_t kept_length;
  bool are_others = kept && (kept_length != request->arguments_length || memcmp(kept, request->arguments, kept_length));
  if (are_others) dismiss_workers();
  kept_length = request->arguments_length;
  free(kept);
  free(worker_arguments);
  kept = memcpy(malloc(request->arguments_length + 1), request->arguments, request->arguments_length + 1);
  worker_arguments = split(kept, request->arguments_length, &worker_argument_count);
  may_load = true;
  load_workers(request->id < MOST_READY ? request->id : MOST_READY);
  last_work = now_ms();
}

static void kill_child(uint32_t id) {
  for (size_t i = 0; i < child_count; i++)
    if (children[i]->id == id) kill(children[i]->pid, SIGKILL);
}

static void serve(void) {
  struct request request;
  if (!read_all(&request, 4 * sizeof(uint32_t))) _exit(0);
  request.arguments = read_bytes(request.arguments_length);
  request.input = read_bytes(request.input_length);
  switch (request.kind) {
    case RUN: run_program(&request); break;
    case JOB: give_job(&request); break;
    case PREPARE: prepare_workers(&request); break;
    case DISMISS: dismiss_workers(); break;
    case KILL: kill_child(request.id); break;
    default: die_usage("not a kind of request", NULL);
  }
  free(request.arguments);
  free(request.input);
}

/* A worker's answer is its first line: its end, with its namespaces, takes longer. */
static void answer_early(struct child *child) {
  if (!child->id || child->answered || child->input < 0) return;
  if (!child->out.length || !memchr(child->out.text, '\n', child->out.length)) return;
  if (!strncmp(child->out.text, "failed", 6)) return; /* what it says besides comes by its end */
  child->answered = true;
  answer(child, 0);
  last_work = now_ms();
}

static bool is_ready(const struct child *child, size_t *at) {
  for (*at = 0; *at < ready_count; (*at)++)
    if (ready[*at] == child) return true;
  return false;
}

/* An exit code, or a signal below zero. */
static int32_t outcome(struct child *child, int status) {
  if (!child->says_too_much) return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  free(child->errors.text);
  child->out.length = 0;
  child->errors.text = strdup("it said more than 16 MiB\n");
  child->errors.length = child->errors.text ? strlen(child->errors.text) : 0;
  return -SIGKILL;
}

static void forget(size_t index) {
  struct child *child = children[index];
  int status = 0;
  size_t at;
  waitpid(child->pid, &status, 0);
  take_rest(child, &child->out, take_output);
  take_rest(child, &child->errors, take_errors);
  if (is_ready(child, &at)) {
    memmove(ready + at, ready + at + 1, (--ready_count - at) * sizeof *ready);
    may_load = false; /* the next one would not live longer */
  }
  if (child->id && !child->answered) answer(child, outcome(child, status));
  int fds[] = {child->process, child->input, child->out.fd, child->errors.fd};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
    if (fds[i] >= 0) close(fds[i]);
  free(child->out.text);
  free(child->errors.text);
  free(child);
  children[index] = children[--child_count];
}

static bool is_working(void) {
  for (size_t i = 0; i < child_count; i++)
    if (children[i]->id && children[i]->input >= 0 && !children[i]->answered) return true;
  return false;
}

static bool may_load_now(void) {
  /* While one works, loading another would only slow it down, if there is one left for what comes next. */
  return may_load && child_count < MOST_CHILDREN && !(ready_count && is_working());
}

static int until_next_step(void) {
  long since = now_ms() - last_work, at = -1;
  if (ready_count) at = PATIENCE_MS;
  if (since < PATIENCE_MS && may_load_now() && ready_count < MOST_KEPT)
    at = ready_count < LEAST_READY ? LEAST_REST_MS : REST_MS;
  return at < 0 ? -1 : at > since ? (int)(at - since) : 0;
}

static void take_step(void) {
  long since = now_ms() - last_work;
  if (since >= PATIENCE_MS)
    dismiss_workers();
  else
    load_workers(since >= REST_MS ? MOST_KEPT : LEAST_READY);
}

int run_keeper(void) {
  static struct pollfd fds[2 + 3 * MOST_CHILDREN];
  signal(SIGPIPE, SIG_IGN);
  setsid(); /* Ctrl-C is for the command: what is half done is called off, or goes on to its end */
  int mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  for (;;) {
    size_t count = 0;
    bool full = child_count == MOST_CHILDREN;
    fds[count++] = (struct pollfd){.fd = full ? -1 : STDIN_FILENO, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = mounts, .events = POLLPRI};
    size_t known = child_count;
    for (size_t i = 0; i < known; i++) {
      fds[count++] = (struct pollfd){.fd = children[i]->process, .events = POLLIN};
      fds[count++] = (struct pollfd){.fd = children[i]->out.fd, .events = POLLIN};
      fds[count++] = (struct pollfd){.fd = children[i]->errors.fd, .events = POLLIN};
    }
    int happened = poll(fds, count, until_next_step());
    if (happened < 0) continue;
    if (happened == 0) take_step();
    /* Workers see the mounts of the moment they were started in. */
    if (fds[1].revents) dismiss_workers();
    for (size_t i = known; i-- > 0;) {
      struct pollfd *own = &fds[2 + 3 * i];
      if (own[1].revents) take_output(children[i]);
      if (own[2].revents) take_errors(children[i]);
      answer_early(children[i]);
      if (own[0].revents) forget(i);
    }
    if (fds[0].revents) serve();
  }
}
