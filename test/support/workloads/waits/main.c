/* waits SECONDS [thread]: makes each call in its own process, or in a second thread of it, and prints for each one
 * NAME SECONDS RESULT ERRNO and whether result and errno are right. */
#define _GNU_SOURCE
#include "kinds.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static const char *mode;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct outcome outcome_of(long result) {
  return (struct outcome){result, result < 0 ? errno : 0};
}

struct timespec span_of(double span) {
  return (struct timespec){(time_t)span, (long)((span - floor(span)) * 1e9)};
}

void later(double span, void (*act)(long argument), long argument) {
  if (fork()) return;
  double end = now() + span;
  for (double left; (left = end - now()) > 0;) {
    struct timespec time = span_of(left);
    nanosleep(&time, NULL);
  }
  act(argument);
  _exit(0);
}

static void *make_call(void *argument) {
  const struct kind *kind = argument;
  char line[200];
  double began = now();
  struct outcome got = kind->wait(seconds);
  int is_right = got.result == kind->expected.result && got.error == kind->expected.error;
  int length = snprintf(line, sizeof line, "%s %.2f %ld %s %s\n", kind->name, now() - began, got.result,
                        got.error ? strerrorname_np(got.error) : "0", is_right ? "right" : "wrong");
  if (write(1, line, (size_t)length) != length) abort();
  return NULL;
}

static void start(const struct kind *kind) {
  pthread_t thread;
  if (fork()) return;
  if (mode && !strcmp(mode, "thread")) {
    pthread_create(&thread, NULL, make_call, (void *)kind);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); /* the other thread gets them */
    pthread_join(thread, NULL);
  } else {
    make_call((void *)kind);
  }
  exit(0);
}

int main(int argc, char **argv) {
  const struct kind *lists[] = {timed_kinds, event_kinds, timer_kinds, raw_kinds};
  seconds = argc > 1 ? atof(argv[1]) : 6;
  mode = argc > 2 ? argv[2] : NULL;
  const char *only = argc > 3 ? argv[3] : NULL;
  for (unsigned i = 0; i < 4; i++)
    for (const struct kind *kind = lists[i]; kind->name; kind++)
      if (!only || !strcmp(only, kind->name)) start(kind);
  if (write(1, "started\n", 8) != 8) return 1;
  while (wait(NULL) > 0 || errno == EINTR) continue;
  if (write(1, "all\n", 4) != 4) return 1;
  return 0;
}
