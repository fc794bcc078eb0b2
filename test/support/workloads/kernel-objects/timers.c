/* Timers and signals. */
#define _GNU_SOURCE
#include "object.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EVERY_20_MS {.tv_nsec = 20 * 1000 * 1000}

static volatile long alarms, expirations;

static void on_alarm(int number) {
  (void)number;
  alarms++;
}

static void on_expiration(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  if (info->si_code == SI_TIMER && info->si_value.sival_int == 99) expirations++;
}

static void handle(int number, struct sigaction action) {
  action.sa_flags |= SA_RESTART;
  MUST(sigaction(number, &action, NULL));
}

static void make_itimer(void) {
  handle(SIGALRM, (struct sigaction){.sa_handler = on_alarm});
  const struct timeval period = {.tv_usec = 20000};
  MUST(setitimer(ITIMER_REAL, &(struct itimerval){period, period}, NULL));
}

static bool itimer_holds(void) { return grows(&alarms); }

static timer_t periodic, distant;

static void make_timers(void) {
  handle(SIGRTMIN + 5, (struct sigaction){.sa_sigaction = on_expiration, .sa_flags = SA_SIGINFO});
  struct sigevent event = {
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 5, .sigev_value.sival_int = 99};
  MUST(timer_create(CLOCK_MONOTONIC, &event, &periodic));
  MUST(timer_create(CLOCK_REALTIME, &event, &distant));
  MUST(timer_settime(periodic, 0, &(struct itimerspec){EVERY_20_MS, EVERY_20_MS}, NULL));
  MUST(timer_settime(distant, 0, &(struct itimerspec){.it_value.tv_sec = 5000}, NULL));
}

static bool is_distant(struct timespec left) { return left.tv_sec > 4000 && left.tv_sec < 5000; }

static bool timers_hold(void) {
  struct itimerspec left;
  return grows(&expirations) && timer_gettime(distant, &left) == 0 && is_distant(left.it_value) &&
         left.it_interval.tv_nsec == 0;
}

static int ticking, waiting;

static void make_timerfds(void) {
  ticking = MUST(timerfd_create(CLOCK_MONOTONIC, 0));
  waiting = MUST(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK));
  MUST(timerfd_settime(ticking, 0, &(struct itimerspec){EVERY_20_MS, EVERY_20_MS}, NULL));
  MUST(timerfd_settime(waiting, 0, &(struct itimerspec){.it_value.tv_sec = 5000}, NULL));
}

static bool timerfds_hold(void) {
  uint64_t ticks = 0;
  struct itimerspec left;
  struct pollfd both[] = {{ticking, POLLIN, 0}, {waiting, POLLIN, 0}};
  for (int i = 0; i < 3; i++)
    if (read(ticking, &ticks, 8) != 8 || ticks == 0) return false;
  while (poll(both + 1, 1, 0) < 0 && errno == EINTR) continue;
  return both[1].revents == 0 && timerfd_gettime(waiting, &left) == 0 && is_distant(left.it_value);
}

/* Two signals that nobody has taken yet, with their values. */
static int signals;

static void send_value(int value) {
  MUST(sigqueue(getpid(), SIGRTMIN + 6, (union sigval){.sival_int = value}));
}

static void make_signalfd(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 6);
  MUST(sigprocmask(SIG_BLOCK, &set, NULL));
  signals = MUST(signalfd(-1, &set, SFD_NONBLOCK));
  send_value(11);
  send_value(12);
}

static bool signalfd_holds(void) {
  struct signalfd_siginfo info[3];
  bool both = read(signals, info, sizeof info) == 2 * sizeof *info && info[0].ssi_int == 11 &&
              info[1].ssi_int == 12;
  send_value(11);
  send_value(12);
  return both;
}

static char other_stack[65536];
static volatile bool was_there;

static void on_other_stack(int number) {
  (void)number;
  char here;
  was_there = &here > other_stack && &here < other_stack + sizeof other_stack;
}

static void make_handlers(void) {
  MUST(sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack}, NULL));
  handle(SIGUSR2, (struct sigaction){.sa_handler = on_other_stack, .sa_flags = SA_ONSTACK});
  handle(SIGHUP, (struct sigaction){.sa_handler = SIG_IGN});
}

static bool handlers_hold(void) {
  struct sigaction ignored;
  was_there = false;
  raise(SIGUSR2);
  raise(SIGHUP);
  return was_there && sigaction(SIGHUP, NULL, &ignored) == 0 && ignored.sa_handler == SIG_IGN;
}

static time_t began;

static void make_clock(void) {
  struct timespec now;
  MUST(clock_gettime(CLOCK_MONOTONIC, &now));
  began = now.tv_sec;
}

/* Monotonic time continues from where it was. */
static bool clock_holds(void) {
  struct timespec now;
  MUST(clock_gettime(CLOCK_MONOTONIC, &now));
  return now.tv_sec >= began && now.tv_sec < began + 600;
}

const struct object timer_objects[] = {
    {"setitimer", make_itimer, itimer_holds},
    {"timer_create", make_timers, timers_hold},
    {"timerfd", make_timerfds, timerfds_hold},
    {"signals queued for a signalfd", make_signalfd, signalfd_holds},
    {"signal handlers and their stack", make_handlers, handlers_hold},
    {"the monotonic clock", make_clock, clock_holds},
    {0},
};
