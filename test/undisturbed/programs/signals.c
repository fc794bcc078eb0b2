/* Signals: masks, handlers, what is pending, and that none comes which nobody sent. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t last_signal;
static void on_signal(int number) { last_signal = number; }

/* Every signal that can be caught is; none may arrive. */
static void no_signal(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  for (int number = 1; number < 65; number++)
    if (number != SIGSEGV && number != SIGBUS) sigaction(number, &action, NULL);
  hold();
  same("a signal that nobody sent", 0, last_signal);
}

static void mask(void) {
  sigset_t set, is;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGRTMAX);
  sigprocmask(SIG_SETMASK, &set, NULL);
  hold();
  sigprocmask(SIG_SETMASK, NULL, &is);
  EXPECT(memcmp(&set, &is, 8) == 0);
}

static void handlers(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER | SA_ONSTACK}, is;
  sigaddset(&action.sa_mask, SIGUSR2);
  MUST(sigaction(SIGUSR1, &action, NULL));
  signal(SIGPIPE, SIG_IGN);
  hold();
  MUST(sigaction(SIGUSR1, NULL, &is));
  EXPECT(is.sa_handler == on_signal);
  same("flags", action.sa_flags, is.sa_flags & ~0x04000000);
  same("mask", 1, sigismember(&is.sa_mask, SIGUSR2));
  MUST(sigaction(SIGPIPE, NULL, &is));
  EXPECT(is.sa_handler == SIG_IGN);
}

/* Queued signals keep their order, values and senders; those of a thread stay with it. */
static void pending(void) {
  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
  union sigval value = {.sival_int = 100};
  for (int i = 0; i < 3; i++, value.sival_int++) MUST(sigqueue(getpid(), SIGRTMIN + 4, value));
  kill(getpid(), SIGUSR1);
  MUST(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2));
  char *own = line_of(slurp("/proc/self/status"), "SigPnd:"), *shared = line_of(slurp("/proc/self/status"), "ShdPnd:");
  hold();
  char *text = slurp("/proc/self/status");
  same_text("pending", own, line_of(text, "SigPnd:"));
  same_text("pending for all threads", shared, line_of(text, "ShdPnd:"));
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGRTMIN + 4);
  struct timespec none = {0};
  for (int i = 100; i < 103; i++) {
    siginfo_t info = {0};
    same("signal", SIGRTMIN + 4, sigtimedwait(&one, &info, &none));
    same("value", i, info.si_value.sival_int);
    same("code", SI_QUEUE, info.si_code);
    same("sender", getpid(), info.si_pid);
  }
}

static void other_stack(void) {
  static char room[65536];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, is;
  MUST(sigaltstack(&stack, NULL));
  hold();
  MUST(sigaltstack(NULL, &is));
  same("stack", (long)room, (long)is.ss_sp);
  same("its size", sizeof room, (long)is.ss_size);
}

/* The program stands in the middle of a handler, on another stack. */
static volatile sig_atomic_t depth;
static void deep(int number) {
  int local = number * 3;
  depth = 1;
  hold();
  depth = local == SIGUSR1 * 3 ? 2 : 3;
}
static void inside_handler(void) {
  static char room[1 << 18];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  MUST(sigaltstack(&stack, NULL));
  struct sigaction action = {.sa_handler = deep, .sa_flags = SA_ONSTACK};
  MUST(sigaction(SIGUSR1, &action, NULL));
  double kept = now();
  raise(SIGUSR1);
  same("how the handler ended", 2, depth);
  EXPECT(kept <= now());
}

/* A signal that is sent over and over is never lost, never doubled. */
static volatile sig_atomic_t count;
static void on_count(int number) {
  (void)number;
  count = count + 1;
}
static void counted_signals(void) {
  struct sigaction action = {.sa_handler = on_count, .sa_flags = SA_RESTART};
  MUST(sigaction(SIGRTMIN + 6, &action, NULL));
  ready();
  long sent = 0;
  for (; !is_over(); sent++) {
    MUST(sigqueue(getpid(), SIGRTMIN + 6, (union sigval){0}));
    rest(0.002);
  }
  same("signals", sent, count);
}

const struct program signal_programs[] = {
    {"no-signal", no_signal},
    {"signal-mask", mask},
    {"signal-handlers", handlers},
    {"pending-signals", pending},
    {"signal-stack", other_stack},
    {"inside-handler", inside_handler},
    {"counted-signals", counted_signals},
    {0},
};
