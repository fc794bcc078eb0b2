/* Calls without a time-out. Another process ends them after a time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kinds.h"

static void write_byte(long fd) {
  if (write((int)fd, "x", 1) != 1) abort();
}

static void send_user_signal(long thread) { syscall(SYS_tgkill, getppid(), thread, SIGUSR1); }
static void end(long unused) { (void)unused; }

static struct outcome wait_poll(double seconds) {
  int ends[2];
  if (pipe(ends)) abort();
  later(seconds, write_byte, ends[1]);
  struct pollfd one = {.fd = ends[0], .events = POLLIN};
  return outcome_of(poll(&one, 1, -1));
}

static struct outcome wait_epoll(double seconds) {
  int ends[2], epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  if (pipe(ends) || epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event)) abort();
  later(seconds, write_byte, ends[1]);
  return outcome_of(epoll_wait(epoll, &event, 1, -1));
}

static struct outcome wait_read(double seconds) {
  int ends[2];
  char byte;
  if (pipe(ends)) abort();
  later(seconds, write_byte, ends[1]);
  return outcome_of(read(ends[0], &byte, 1));
}

static struct outcome wait_recv(double seconds) {
  int pair[2];
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  later(seconds, write_byte, pair[1]);
  return outcome_of(recv(pair[0], &byte, 1, 0));
}

static void add_one(long id) {
  struct sembuf give = {0, 1, 0};
  semop((int)id, &give, 1);
}

static struct outcome wait_semop(double seconds) {
  int id = semget(IPC_PRIVATE, 1, 0600);
  struct sembuf take = {0, -1, 0};
  later(seconds, add_one, id);
  struct outcome outcome = outcome_of(semop(id, &take, 1));
  semctl(id, 0, IPC_RMID);
  return outcome;
}

static void send_message(long id) {
  struct msgbuf message = {1, "x"};
  msgsnd((int)id, &message, 1, 0);
}

static struct outcome wait_msgrcv(double seconds) {
  struct msgbuf message;
  int id = msgget(IPC_PRIVATE, 0600);
  later(seconds, send_message, id);
  struct outcome outcome = outcome_of(msgrcv(id, &message, 1, 0, 0));
  msgctl(id, IPC_RMID, NULL);
  return outcome;
}

static struct outcome wait_sigwait(double seconds) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  later(seconds, send_user_signal, syscall(SYS_gettid));
  return outcome_of(sigwaitinfo(&set, NULL));
}

static void handle(int signal) { (void)signal; }

/* A real signal ends it with EINTR. */
static struct outcome wait_pause(double seconds) {
  signal(SIGUSR1, handle);
  later(seconds, send_user_signal, syscall(SYS_gettid));
  return outcome_of(pause());
}

static struct outcome wait_sigsuspend(double seconds) {
  sigset_t set;
  sigemptyset(&set);
  signal(SIGUSR1, handle);
  later(seconds, send_user_signal, syscall(SYS_gettid));
  return outcome_of(sigsuspend(&set));
}

static struct outcome wait_interrupted_sleep(double seconds) {
  signal(SIGUSR1, handle);
  later(seconds, send_user_signal, syscall(SYS_gettid));
  struct timespec span = span_of(seconds * 10);
  return outcome_of(nanosleep(&span, NULL));
}

static struct outcome wait_interrupted_epoll(double seconds) {
  struct epoll_event event;
  signal(SIGUSR1, handle);
  later(seconds, send_user_signal, syscall(SYS_gettid));
  return outcome_of(epoll_wait(epoll_create1(0), &event, 1, (int)(seconds * 10000)));
}

static struct outcome wait_child(double seconds) {
  pid_t self = getpid();
  later(seconds, end, 0);
  pid_t ended = wait4(-1, NULL, __WALL, NULL);
  return (struct outcome){ended > self ? 0 : -1, 0};
}

static struct outcome wait_id(double seconds) {
  siginfo_t info;
  later(seconds, end, 0);
  return outcome_of(waitid(P_ALL, 0, &info, WEXITED));
}

static int temporary(void) {
  char name[] = "/tmp/waits-XXXXXX";
  int fd = mkstemp(name);
  if (fd < 0) abort();
  return fd;
}

/* Holds a lock in another process for a while. */
static int held_elsewhere(double seconds, void (*take)(int fd)) {
  int fd = temporary(), ends[2];
  char path[64], byte;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (pipe(ends)) abort();
  if (!fork()) {
    take(open(path, O_RDWR));
    write_byte(ends[1]);
    later(seconds, end, 0);
    waitpid(-1, NULL, 0);
    _exit(0);
  }
  if (read(ends[0], &byte, 1) != 1) abort();
  return open(path, O_RDWR);
}

static void take_flock(int fd) { flock(fd, LOCK_EX); }
static void take_record(int fd) {
  struct flock lock = {.l_type = F_WRLCK};
  fcntl(fd, F_SETLKW, &lock);
}

static struct outcome wait_flock(double seconds) {
  return outcome_of(flock(held_elsewhere(seconds, take_flock), LOCK_EX));
}

static struct outcome wait_fcntl(double seconds) {
  struct flock lock = {.l_type = F_WRLCK};
  return outcome_of(fcntl(held_elsewhere(seconds, take_record), F_SETLKW, &lock));
}

static uint32_t *word;

static void wake(long unused) {
  (void)unused;
  __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* As a lock does it. A call that is made again after the word has changed returns EAGAIN at once. */
static struct outcome wait_futex(double seconds) {
  word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  later(seconds, wake, 0);
  long result = syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
  bool has_changed = __atomic_load_n(word, __ATOMIC_SEQ_CST) == 1;
  return has_changed && (!result || errno == EAGAIN) ? (struct outcome){0, 0} : outcome_of(result);
}

static void touch(long fd) { write_byte(fd); }

static struct outcome wait_inotify(double seconds) {
  char event[512], path[64], name[256];
  int fd = temporary(), watch = inotify_init1(0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(path, name, sizeof name - 1);
  name[length > 0 ? length : 0] = 0;
  if (inotify_add_watch(watch, name, IN_MODIFY) < 0) abort();
  later(seconds, touch, fd);
  return (struct outcome){read(watch, event, sizeof event) > 0 ? 0 : -1, 0};
}

const struct kind event_kinds[] = {
    {"poll-event", wait_poll, {1, 0}},
    {"epoll-event", wait_epoll, {1, 0}},
    {"read", wait_read, {1, 0}},
    {"recv", wait_recv, {1, 0}},
    {"semop", wait_semop, {0, 0}},
    {"msgrcv", wait_msgrcv, {1, 0}},
    {"sigwait", wait_sigwait, {SIGUSR1, 0}},
    {"pause", wait_pause, {-1, EINTR}},
    {"sigsuspend", wait_sigsuspend, {-1, EINTR}},
    {"interrupted-sleep", wait_interrupted_sleep, {-1, EINTR}},
    {"interrupted-epoll", wait_interrupted_epoll, {-1, EINTR}},
    {"wait4", wait_child, {0, 0}},
    {"waitid", wait_id, {0, 0}},
    {"flock", wait_flock, {0, 0}},
    {"fcntl", wait_fcntl, {0, 0}},
    {"futex-event", wait_futex, {0, 0}},
    {"inotify", wait_inotify, {0, 0}},
    {0},
};
