/* Timers, which run on. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "kinds.h"

static void handle(int signal) { (void)signal; }

static struct outcome wait_alarm(double seconds) {
  signal(SIGALRM, handle);
  alarm((unsigned)seconds);
  return outcome_of(pause());
}

static struct outcome wait_itimer(double seconds) {
  struct itimerval timer = {.it_value = {(time_t)seconds, 0}};
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &timer, NULL);
  return outcome_of(pause());
}

static struct outcome wait_posix_timer(double seconds) {
  timer_t id;
  struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  struct itimerspec timer = {.it_value = span_of(seconds)};
  signal(SIGUSR1, handle);
  timer_create(CLOCK_MONOTONIC, &how, &id);
  timer_settime(id, 0, &timer, NULL);
  return outcome_of(pause());
}

static struct outcome wait_timerfd(double seconds) {
  uint64_t times;
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec timer = {.it_value = span_of(seconds)};
  timerfd_settime(fd, 0, &timer, NULL);
  return outcome_of(read(fd, &times, sizeof times));
}

const struct kind timer_kinds[] = {
    {"alarm", wait_alarm, {-1, EINTR}},
    {"itimer", wait_itimer, {-1, EINTR}},
    {"posix-timer", wait_posix_timer, {-1, EINTR}},
    {"timerfd", wait_timerfd, {8, 0}},
    {0},
};
