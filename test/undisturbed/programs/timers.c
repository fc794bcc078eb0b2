/* Timers of every kind expire when they should, as often as they should. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* How late an expiry may be, beside the time in which everything stood still: for a busy machine. */
#define PATIENCE 3

static volatile sig_atomic_t signals;
static volatile double last_signal;
static void on_signal(int number) {
  (void)number;
  signals = signals + 1;
  last_signal = now();
}

static void catch (int number) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  MUST(sigaction(number, &action, NULL));
}

/* Something that began at `begin` with `span` seconds to run has `left` seconds now. */
static void counts_down(const char *what, double begin, double span, double left) {
  double expected = span - (now() - begin);
  /* A copy's timers stood still while it was made, and its clock did not. */
  double stops = is_copy() ? stood_still() : 0;
  if (left < expected - PATIENCE || left > expected + 0.5 + stops)
    notice("%s has %.3f s left, not %.3f", what, left, expected);
}

static double seconds(struct timespec time) { return (double)time.tv_sec + (double)time.tv_nsec / 1e9; }
static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static void alarm_clock(void) {
  double begin = now();
  catch (SIGALRM);
  alarm(600);
  hold();
  counts_down("the alarm", begin, 600, alarm(0));
  same("signals", 0, signals);
}

/* Each alarm of two seconds arrives once, in time. */
static void alarms(void) {
  catch (SIGALRM);
  ready();
  do {
    double begin = now(), stops = stood_still();
    signals = 0;
    alarm(2);
    while (!signals && now() < begin + 60) rest(0.02);
    double took = last_signal - begin;
    if (!signals)
      notice("no alarm in a minute");
    else if (took < 1.99 || late_by(took - 2, stops) > PATIENCE)
      notice("the alarm came after %.3f s", took);
  } while (!is_over() && !has_noticed());
}

static void interval_timer(void) {
  double begin = now();
  struct itimerval every = {.it_value.tv_sec = 500, .it_interval.tv_sec = 7}, is;
  catch (SIGALRM);
  MUST(setitimer(ITIMER_REAL, &every, NULL));
  hold();
  MUST(getitimer(ITIMER_REAL, &is));
  counts_down("the timer", begin, 500, seconds_of(is.it_value));
  same("interval", 7, is.it_interval.tv_sec);
}

static void interval_ticks(void) {
  struct itimerval every = {.it_value.tv_usec = 50000, .it_interval.tv_usec = 50000};
  catch (SIGALRM);
  double begin = now();
  MUST(setitimer(ITIMER_REAL, &every, NULL));
  ready();
  while (!is_over()) rest(0.05);
  rest(0.1);
  long most = (long)((now() - begin) / 0.05) + 1;
  /* Those that fall into a stop come together, as one. */
  if (signals > most || (double)signals < ((double)most * 0.05 - stood_still()) / 0.5)
    notice("%d ticks in the time of %ld", signals, most);
  int before = signals;
  rest(1);
  if (signals - before < 5) notice("the timer stands still");
}

/* CPU time of the process: nobody charges it for the snapshot. */
static void processor_timers(void) {
  struct itimerval far = {.it_value.tv_sec = 1000}, is;
  catch (SIGVTALRM);
  catch (SIGPROF);
  MUST(setitimer(ITIMER_VIRTUAL, &far, NULL));
  MUST(setitimer(ITIMER_PROF, &far, NULL));
  hold();
  MUST(getitimer(ITIMER_VIRTUAL, &is));
  if (seconds_of(is.it_value) < 999 || seconds_of(is.it_value) > 1000.02)
    notice("ITIMER_VIRTUAL: %.3f s left of 1000", seconds_of(is.it_value));
  MUST(getitimer(ITIMER_PROF, &is));
  if (seconds_of(is.it_value) < 995 || seconds_of(is.it_value) > 1000.02)
    notice("ITIMER_PROF: %.3f s left of 1000", seconds_of(is.it_value));
}

static void timer_descriptor(void) {
  double begin = now();
  int fd = MUST(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
  struct itimerspec set = {.it_value.tv_sec = 400, .it_interval.tv_sec = 3}, is;
  MUST(timerfd_settime(fd, 0, &set, NULL));
  hold();
  MUST(timerfd_gettime(fd, &is));
  counts_down("the timer", begin, 400, seconds(is.it_value));
  same("interval", 3, is.it_interval.tv_sec);
  uint64_t expired;
  EXPECT(read(fd, &expired, sizeof expired) < 0 && errno == EAGAIN);
}

/* A tick every 100 ms for as long as the snapshots are taken: counted, none is missing and none is added. */
static void timer_descriptor_ticks(void) {
  int fd = MUST(timerfd_create(CLOCK_MONOTONIC, 0));
  struct itimerspec set = {.it_value.tv_nsec = 100000000, .it_interval.tv_nsec = 100000000};
  double begin = now();
  MUST(timerfd_settime(fd, 0, &set, NULL));
  ready();
  uint64_t total = 0, expired;
  while (!is_over()) {
    MUST(read(fd, &expired, sizeof expired));
    total += expired;
  }
  double due = (now() - begin) / 0.1;
  if ((double)total > due + 0.5 || (double)total < due - (PATIENCE + stood_still()) * 10)
    notice("%lu ticks in the time of %.1f", total, due);
}

/* Expirations that nobody has read yet are counted still. */
static void timer_descriptor_unread(void) {
  int fd = MUST(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK));
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  struct itimerspec set = {.it_value = {time.tv_sec + 1, 0}, .it_interval.tv_nsec = 200000000};
  MUST(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL));
  double begin = now();
  rest(1.5);
  hold();
  uint64_t expired = 0;
  MUST(read(fd, &expired, sizeof expired));
  double most = (now() - begin) / 0.2 + 1;
  if ((double)expired > most || (double)expired < most - 20 - stood_still() * 5)
    notice("%lu ticks in the time of %.1f", expired, most);
}

static timer_t posix_timer(clockid_t clock, int notify, int number) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = notify, .sigev_signo = number};
  MUST(timer_create(clock, &event, &timer));
  return timer;
}

static void posix_timers(void) {
  catch (SIGRTMIN);
  double begin = now();
  timer_t timers[3] = {posix_timer(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGRTMIN), posix_timer(CLOCK_REALTIME, SIGEV_NONE, 0),
                       posix_timer(CLOCK_BOOTTIME, SIGEV_SIGNAL, SIGRTMIN)};
  struct itimerspec set = {.it_value.tv_sec = 300, .it_interval.tv_sec = 9}, is;
  for (int i = 0; i < 3; i++) MUST(timer_settime(timers[i], 0, &set, NULL));
  char *was = slurp("/proc/self/timers");
  hold();
  for (int i = 0; i < 3; i++) {
    MUST(timer_gettime(timers[i], &is));
    counts_down("the timer", begin, 300, seconds(is.it_value));
    same("interval", 9, is.it_interval.tv_sec);
  }
  same("signals", 0, signals);
  same_text("/proc/self/timers", was, slurp("/proc/self/timers"));
}

/* Expirations while the signal is blocked: one signal, and the others counted. */
static void timer_overruns(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  timer_t timer = posix_timer(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGRTMIN + 1);
  struct itimerspec every = {.it_value.tv_nsec = 100000000, .it_interval.tv_nsec = 100000000};
  double begin = now();
  MUST(timer_settime(timer, 0, &every, NULL));
  rest(0.5);
  hold();
  siginfo_t info;
  same("the signal", SIGRTMIN + 1, sigwaitinfo(&set, &info));
  double due = (now() - begin) / 0.1;
  int overruns = info.si_overrun;
  if (overruns + 1 > due + 0.5 || overruns + 1 < due - 10 - stood_still() * 10)
    notice("%d overruns in the time of %.1f", overruns, due);
  struct timespec none = {0};
  EXPECT(sigtimedwait(&set, &info, &none) < 0 || info.si_overrun < 5);
}

static void slack(void) {
  char *path = "/proc/self/timerslack_ns";
  write_file(path, "1234567");
  char *was = slurp(path);
  hold();
  same_text("timer slack", was, slurp(path));
}

/* A clock, and how far it is from CLOCK_MONOTONIC: read again when something came between the two. */
static double read_clock(clockid_t clock, double *apart) {
  struct timespec time;
  for (;;) {
    double before = now();
    clock_gettime(clock, &time);
    *apart = seconds(time) - before;
    if (now() - before < 0.01) return seconds(time);
  }
}

/* Clocks continue: none goes back, stands still or jumps. */
static void clocks(void) {
  static const clockid_t all[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_MONOTONIC_RAW, CLOCK_TAI};
  double last[5], apart[5], is;
  for (int i = 0; i < 5; i++) last[i] = read_clock(all[i], &apart[i]);
  ready();
  for (; !is_over() && !has_noticed(); rest(0.005)) {
    for (int i = 0; i < 5; i++) {
      double time = read_clock(all[i], &is);
      if (time < last[i]) notice("clock %d went back by %.6f s", all[i], last[i] - time);
      if (is - apart[i] > 0.3 || is - apart[i] < -0.3) notice("clock %d jumped by %.3f s", all[i], is - apart[i]);
      last[i] = time;
    }
  }
}

const struct program timer_programs[] = {
    {"alarm-left", alarm_clock},
    {"alarms", alarms},
    {"interval-timer", interval_timer},
    {"interval-ticks", interval_ticks},
    {"processor-timers", processor_timers},
    {"timerfd", timer_descriptor},
    {"timerfd-ticks", timer_descriptor_ticks},
    {"timerfd-unread", timer_descriptor_unread},
    {"posix-timers", posix_timers},
    {"timer-overruns", timer_overruns},
    {"timer-slack", slack},
    {"clocks", clocks},
    {0},
};
