/* Workers (see criu/worker.c) that are loaded before there is a job for them. Loading waits for some time after the
 * last job, so that whoever works on has the CPUs. A snapshot takes two workers, and leaves others for what follows. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "keeper.h"
#include "report.h"
#include "shared/owned.h"
#include "worker.h"

#define MOST_READY 8
#define LEAST_READY 2
#define LEAST_REST_MS 30
#define MOST_KEPT 4
#define REST_MS 150
#define PATIENCE_MS 30000 /* a waiting worker keeps the host's mounts busy, so it does not wait forever */

static struct child *ready[MOST_READY];
static size_t ready_count;
static char *argument_bytes;
static uint32_t argument_length;
static char **worker_arguments;
static bool may_load;  /* no worker has failed to start, or ended without a job, since they were prepared */
static long last_work; /* when a job was given or done */

static long now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void become_worker(const struct request *request) {
  (void)request;
  static struct spec spec;
  if (!worker_arguments || !*worker_arguments) die_because("a job came before workers were prepared");
  char **program = parse_options(&spec, worker_arguments + 1); /* after its name */
  exit(run_worker(&spec, program));
}

static struct child *start_worker(struct error *error) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return error_set(error, errno, "socketpair"), NULL;
  struct child *worker = start_child(NULL, become_worker, ends[1], error);
  if (worker)
    worker->input = ends[0];
  else
    close(ends[0]);
  return worker;
}

void dismiss_workers(void) {
  while (ready_count > 0) {
    struct child *child = ready[--ready_count];
    close(child->input);
    child->input = -1;
  }
}

/* A failure is not reported: nobody has asked for these, and the job that needs one starts it and says why. */
static void load_workers(size_t count) {
  struct error error;
  while (may_load && ready_count < count && child_count < MOST_CHILDREN) {
    struct child *worker = start_worker(&error);
    may_load = worker != NULL;
    if (worker) ready[ready_count++] = worker;
  }
}

/* The one that was started first has most likely finished loading. */
static struct child *take_worker(struct error *error) {
  if (!ready_count) return start_worker(error);
  struct child *worker = ready[0];
  memmove(ready, ready + 1, --ready_count * sizeof *ready);
  return worker;
}

/* If writing fails, the worker has ended, and its end is the answer. */
void give_job(const struct request *request) {
  struct error error;
  struct child *worker = take_worker(&error);
  if (!worker) return answer_failure(request, &error);
  worker->id = request->id;
  write_all(worker->input, &request->arguments_length, sizeof request->arguments_length);
  write_all(worker->input, request->arguments, request->arguments_length);
  write_all(worker->input, &request->input_length, sizeof request->input_length);
  write_all(worker->input, request->input, request->input_length);
  last_work = now_ms();
}

static bool are_arguments(const struct request *request) {
  return argument_bytes && argument_length == request->arguments_length &&
         !memcmp(argument_bytes, request->arguments, argument_length);
}

void prepare_workers(struct request *request) {
  if (!are_arguments(request)) {
    dismiss_workers();
    free(worker_arguments);
    free(argument_bytes);
    argument_bytes = take_pointer(&request->arguments);
    argument_length = request->arguments_length;
    worker_arguments = split_words(argument_bytes, argument_length);
  }
  if (!last_work) keep_numbers_taken();
  may_load = true;
  load_workers(request->id < MOST_READY ? request->id : MOST_READY); /* how many are wanted at once */
  last_work = now_ms();
}

void answer_early(struct child *child) {
  if (!child->id || child->answered || child->input < 0 || child->talks) return;
  if (!child->out.length || !memchr(child->out.text, '\n', child->out.length)) return;
  if (!strncmp(child->out.text, "failed", 6)) return; /* more about it comes until the worker ends */
  child->answered = true;
  answer(child, 0);
  last_work = now_ms();
}

void forget_worker(const struct child *child) {
  for (size_t at = 0; at < ready_count; at++) {
    if (ready[at] != child) continue;
    memmove(ready + at, ready + at + 1, (--ready_count - at) * sizeof *ready);
    may_load = false; /* the next one would end as well */
    return;
  }
}

static bool is_working(void) {
  for (size_t i = 0; i < child_count; i++)
    if (children[i]->id && children[i]->input >= 0 && !children[i]->answered && !children[i]->talks) return true;
  return false;
}

/* Loading slows down a worker that has a job, so the next one is loaded meanwhile only if none is ready. */
static bool may_load_now(void) { return may_load && child_count < MOST_CHILDREN && !(ready_count && is_working()); }

int until_next_step(void) {
  long since = now_ms() - last_work, at = -1;
  if (ready_count) at = PATIENCE_MS;
  if (since < PATIENCE_MS && may_load_now() && ready_count < MOST_KEPT)
    at = ready_count < LEAST_READY ? LEAST_REST_MS : REST_MS;
  return at < 0 ? -1 : at > since ? (int)(at - since) : 0;
}

void take_step(void) {
  long since = now_ms() - last_work;
  if (since >= PATIENCE_MS)
    dismiss_workers();
  else
    load_workers(since >= REST_MS ? MOST_KEPT : LEAST_READY);
}
