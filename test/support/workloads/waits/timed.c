/* Calls with a time-out that nothing but the time ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "kinds.h"

static struct timespec at(clockid_t clock, double seconds) {
  struct timespec now, span = span_of(seconds);
  clock_gettime(clock, &now);
  now.tv_sec += span.tv_sec + (now.tv_nsec + span.tv_nsec) / 1000000000;
  now.tv_nsec = (now.tv_nsec + span.tv_nsec) % 1000000000;
  return now;
}

static struct outcome wait_nanosleep(double seconds) {
  struct timespec span = span_of(seconds);
  return outcome_of(syscall(SYS_nanosleep, &span, NULL));
}

static struct outcome wait_nanosleep_rest(double seconds) {
  struct timespec span = span_of(seconds), rest;
  return outcome_of(syscall(SYS_nanosleep, &span, &rest));
}

static struct outcome wait_sleep(double seconds) { return (struct outcome){sleep((unsigned)seconds), 0}; }

static struct outcome wait_clock_nanosleep(double seconds) {
  struct timespec span = span_of(seconds);
  return outcome_of(syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, &span, NULL));
}

static struct outcome wait_clock_nanosleep_until(double seconds) {
  struct timespec moment = at(CLOCK_MONOTONIC, seconds);
  return outcome_of(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL));
}

static struct outcome wait_poll(double seconds) {
  struct pollfd none = {.fd = -1};
  return outcome_of(poll(&none, 1, (int)(seconds * 1000)));
}

static struct outcome wait_ppoll(double seconds) {
  struct timespec span = span_of(seconds);
  sigset_t mask;
  sigemptyset(&mask);
  return outcome_of(ppoll(NULL, 0, &span, &mask));
}

static struct outcome wait_select(double seconds) {
  struct timeval span = {(time_t)seconds, 0};
  return outcome_of(select(0, NULL, NULL, NULL, &span));
}

static struct outcome wait_pselect(double seconds) {
  struct timespec span = span_of(seconds);
  return outcome_of(pselect(0, NULL, NULL, NULL, &span, NULL));
}

static struct outcome wait_epoll(double seconds) {
  struct epoll_event event;
  return outcome_of(epoll_wait(epoll_create1(0), &event, 1, (int)(seconds * 1000)));
}

static struct outcome wait_epoll_pwait(double seconds) {
  struct epoll_event event;
  sigset_t mask;
  sigemptyset(&mask);
  return outcome_of(epoll_pwait(epoll_create1(0), &event, 1, (int)(seconds * 1000), &mask));
}

static struct outcome wait_epoll_pwait2(double seconds) {
  struct epoll_event event;
  struct timespec span = span_of(seconds);
  return outcome_of(epoll_pwait2(epoll_create1(0), &event, 1, &span, NULL));
}

static struct outcome wait_futex(double seconds) {
  uint32_t word = 0;
  struct timespec span = span_of(seconds);
  return outcome_of(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0));
}

static struct outcome wait_futex_until(double seconds) {
  uint32_t word = 0;
  struct timespec moment = at(CLOCK_MONOTONIC, seconds);
  return outcome_of(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &moment, NULL, FUTEX_BITSET_MATCH_ANY));
}

static struct outcome wait_futex_waitv(double seconds) {
  uint32_t word = 0;
  struct timespec moment = at(CLOCK_MONOTONIC, seconds);
  struct futex_waitv one = {.uaddr = (uintptr_t)&word, .flags = FUTEX_32};
  return outcome_of(syscall(SYS_futex_waitv, &one, 1, 0, &moment, CLOCK_MONOTONIC));
}

static struct outcome wait_condition(double seconds) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  struct timespec moment = at(CLOCK_REALTIME, seconds);
  pthread_mutex_lock(&mutex);
  return (struct outcome){pthread_cond_timedwait(&condition, &mutex, &moment), 0};
}

static struct outcome wait_semaphore(double seconds) {
  sem_t semaphore;
  struct timespec moment = at(CLOCK_REALTIME, seconds);
  sem_init(&semaphore, 0, 0);
  return outcome_of(sem_timedwait(&semaphore, &moment));
}

static struct outcome wait_semtimedop(double seconds) {
  int id = semget(IPC_PRIVATE, 1, 0600);
  struct sembuf take = {0, -1, 0};
  struct timespec span = span_of(seconds);
  struct outcome outcome = outcome_of(semtimedop(id, &take, 1, &span));
  semctl(id, 0, IPC_RMID);
  return outcome;
}

static struct outcome wait_sigtimedwait(double seconds) {
  struct timespec span = span_of(seconds);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return outcome_of(sigtimedwait(&set, NULL, &span));
}

static void limit(int socket, int option, double seconds) {
  struct timeval span = {(time_t)seconds, 0};
  setsockopt(socket, SOL_SOCKET, option, &span, sizeof span);
}

static struct outcome wait_accept(double seconds) {
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  bind(listener, (struct sockaddr *)&name, sizeof name.sun_family);
  listen(listener, 1);
  limit(listener, SO_RCVTIMEO, seconds);
  return outcome_of(accept(listener, NULL, NULL));
}

static struct outcome wait_recv(double seconds) {
  int pair[2];
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  limit(pair[0], SO_RCVTIMEO, seconds);
  return outcome_of(recv(pair[0], &byte, 1, 0));
}

static struct outcome wait_read(double seconds) {
  int pair[2];
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  limit(pair[0], SO_RCVTIMEO, seconds);
  return outcome_of(read(pair[0], &byte, 1));
}

static struct outcome wait_send(double seconds) {
  int pair[2];
  static char bytes[4096];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  while (send(pair[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
  limit(pair[0], SO_SNDTIMEO, seconds);
  return outcome_of(send(pair[0], bytes, sizeof bytes, 0));
}

const struct kind timed_kinds[] = {
    {"nanosleep", wait_nanosleep, {0, 0}},
    {"nanosleep-rest", wait_nanosleep_rest, {0, 0}},
    {"sleep", wait_sleep, {0, 0}},
    {"clock_nanosleep", wait_clock_nanosleep, {0, 0}},
    {"clock_nanosleep-until", wait_clock_nanosleep_until, {0, 0}},
    {"poll", wait_poll, {0, 0}},
    {"ppoll", wait_ppoll, {0, 0}},
    {"select", wait_select, {0, 0}},
    {"pselect", wait_pselect, {0, 0}},
    {"epoll_wait", wait_epoll, {0, 0}},
    {"epoll_pwait", wait_epoll_pwait, {0, 0}},
    {"epoll_pwait2", wait_epoll_pwait2, {0, 0}},
    {"futex", wait_futex, {-1, ETIMEDOUT}},
    {"futex-until", wait_futex_until, {-1, ETIMEDOUT}},
    {"futex_waitv", wait_futex_waitv, {-1, ETIMEDOUT}},
    {"condition", wait_condition, {ETIMEDOUT, 0}},
    {"semaphore", wait_semaphore, {-1, ETIMEDOUT}},
    {"semtimedop", wait_semtimedop, {-1, EAGAIN}},
    {"sigtimedwait", wait_sigtimedwait, {-1, EAGAIN}},
    {"accept-limit", wait_accept, {-1, EAGAIN}},
    {"recv-limit", wait_recv, {-1, EAGAIN}},
    {"read-limit", wait_read, {-1, EAGAIN}},
    {"send-limit", wait_send, {-1, EAGAIN}},
    {0},
};
