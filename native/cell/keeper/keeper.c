/* Starts processes for Node, which stands still for milliseconds when it does that itself, and keeps workers ready (see
 * criu/worker.c). A request on stdin is four 32-bit numbers (id, kind, lengths of arguments and input) and those bytes.
 * An answer on stdout is four numbers (id, exit status, lengths of output and errors) and those bytes. Arguments end
 * with NUL. The end of input ends the keeper. */
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io.h"
#include "report.h"
#include "shared/owned.h"

enum kind { RUN, JOB, PREPARE, DISMISS, KILL, TALK, TELL };

/* The sender checks the length, so a longer one is no request. */
static char *read_bytes(uint32_t length) {
  if (length > MOST_BYTES) die_because("a request of %u bytes is too long", length);
  char *bytes = require_memory(malloc((size_t)length + 1));
  if (!read_all(STDIN_FILENO, bytes, length)) _exit(0);
  bytes[length] = 0;
  return bytes;
}

void become_program(const struct request *request) {
  char **argv = split_words(request->arguments, request->arguments_length);
  if (!*argv) return;
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
}

/* Input lies in memory, so that a program that reads it slowly does not keep the others waiting. -1 with an error. */
static int open_input(const struct request *request, struct error *error) {
  if (!request->input_length) {
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return null < 0 ? error_set(error, errno, "open '/dev/null'") : null;
  }
  autoclose int input = memfd_create("input", MFD_CLOEXEC);
  if (input < 0) return error_set(error, errno, "memfd_create");
  if (!write_all(input, request->input, request->input_length)) return error_set(error, errno, "write input");
  if (lseek(input, 0, SEEK_SET)) return error_set(error, errno, "lseek input");
  return take_fd(&input);
}

static void run_program(const struct request *request) {
  struct error error;
  int input = open_input(request, &error);
  if (input < 0 || !start_child(request, become_program, input, &error)) answer_failure(request, &error);
}

static void serve(void) {
  struct request request;
  if (!read_all(STDIN_FILENO, &request, 4 * sizeof(uint32_t))) _exit(0);
  request.arguments = read_bytes(request.arguments_length);
  request.input = read_bytes(request.input_length);
  switch (request.kind) {
    case RUN: run_program(&request); break;
    case JOB: give_job(&request); break;
    case PREPARE: prepare_workers(&request); break;
    case DISMISS: dismiss_workers(); break;
    case KILL: kill_child(request.id); break;
    case TALK: start_talk(&request); break;
    case TELL: continue_talk(&request); break;
    default: die_because("%u is not a kind of request", request.kind);
  }
  free(request.arguments);
  free(request.input);
}

/* What is polled: first these two, then three for each child. */
enum { REQUESTS, MOUNTS, FIRST_CHILD };
enum { END, OUTPUT, ERRORS, OF_CHILD };

static size_t list_sources(struct pollfd *fds, int mounts) {
  bool is_full = child_count == MOST_CHILDREN;
  fds[REQUESTS] = (struct pollfd){.fd = is_full ? -1 : STDIN_FILENO, .events = POLLIN};
  fds[MOUNTS] = (struct pollfd){.fd = mounts, .events = POLLPRI};
  for (size_t i = 0; i < child_count; i++) {
    struct pollfd *own = &fds[FIRST_CHILD + OF_CHILD * i];
    own[END] = (struct pollfd){.fd = children[i]->process, .events = POLLIN};
    own[OUTPUT] = (struct pollfd){.fd = children[i]->out.fd, .events = POLLIN};
    own[ERRORS] = (struct pollfd){.fd = children[i]->errors.fd, .events = POLLIN};
  }
  return FIRST_CHILD + OF_CHILD * child_count;
}

static void look_after(size_t index, const struct pollfd *own) {
  struct child *child = children[index];
  if (own[OUTPUT].revents) take_output(child);
  if (own[ERRORS].revents) take_errors(child);
  answer_line(child);
  answer_early(child);
  if (own[END].revents) forget_child(index);
}

void verb_keeper(char **words) {
  (void)words;
  static struct pollfd fds[FIRST_CHILD + OF_CHILD * MOST_CHILDREN];
  signal(SIGPIPE, SIG_IGN);
  setsid(); /* Ctrl-C is meant for the command line, which calls its work off or finishes it */
  int mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  for (;;) {
    size_t count = list_sources(fds, mounts), known = child_count;
    int happened = poll(fds, count, until_next_step());
    if (happened < 0) continue;
    if (happened == 0) take_step();
    /* A worker sees the mounts of the moment at which it was started. */
    if (fds[MOUNTS].revents) dismiss_workers();
    /* Backwards: the last child takes the place of one that is forgotten. */
    for (size_t i = known; i-- > 0;) look_after(i, &fds[FIRST_CHILD + OF_CHILD * i]);
    if (fds[REQUESTS].revents) serve();
  }
}
