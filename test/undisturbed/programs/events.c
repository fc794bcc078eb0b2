/* Pipes, FIFOs, event descriptors and sets of them: what is in them, and what they report. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[65536];

static void pipe_contents(void) {
  int ends[2];
  MUST(pipe(ends));
  MUST(write(ends[1], "in the pipe", 11));
  struct stat was, is;
  MUST(fstat(ends[0], &was));
  hold();
  MUST(fstat(ends[0], &is));
  same("inode of the pipe", (long)was.st_ino, (long)is.st_ino);
  same("bytes", 11, read(ends[0], bytes, sizeof bytes));
  EXPECT(memcmp(bytes, "in the pipe", 11) == 0);
}

static void packet_pipe(void) {
  int packets[2];
  MUST(pipe2(packets, O_DIRECT | O_NONBLOCK));
  MUST(write(packets[1], "one", 3));
  MUST(write(packets[1], "three", 5));
  hold();
  same("first packet", 3, read(packets[0], bytes, sizeof bytes));
  same("second packet", 5, read(packets[0], bytes, sizeof bytes));
}

static void fifo_contents(void) {
  MUST(mkfifo("fifo", 0600));
  int fd = MUST(open("fifo", O_RDWR | O_NONBLOCK)), reader = MUST(open("fifo", O_RDONLY));
  MUST(write(fd, "in the FIFO", 11));
  hold();
  int bytes_in = 0;
  MUST(ioctl(reader, FIONREAD, &bytes_in));
  same("bytes", 11, bytes_in);
  int again = open("fifo", O_WRONLY | O_NONBLOCK);
  EXPECT(again >= 0 && write(again, "!", 1) == 1);
  same("bytes with one more", 12, read(reader, bytes, sizeof bytes));
}

/* A pipe between two processes that is never empty and never still: every byte in its place. */
static int stream[2];
static void *writes(void *unused) {
  unsigned char block[4096];
  (void)unused;
  for (unsigned long at = 0;; at += sizeof block) {
    for (size_t i = 0; i < sizeof block; i++) block[i] = (unsigned char)((at + i) % 251);
    for (size_t sent = 0; sent < sizeof block;) {
      ssize_t got = write(stream[1], block + sent, sizeof block - sent);
      if (got <= 0) return NULL;
      sent += (size_t)got;
    }
  }
}
static void busy_pipe(void) {
  MUST(pipe(stream));
  pthread_t writer;
  pthread_create(&writer, NULL, writes, NULL);
  ready();
  for (unsigned long at = 0; !is_over() && !has_noticed();) {
    ssize_t got = MUST(read(stream[0], bytes, 20000));
    for (ssize_t i = 0; i < got; i++, at++)
      if ((unsigned char)bytes[i] != at % 251) {
        notice("byte %lu is another", at);
        break;
      }
    rest(0.005);
  }
}

static void event_counter(void) {
  int fd = MUST(eventfd(41, EFD_NONBLOCK)), semaphore = MUST(eventfd(3, EFD_NONBLOCK | EFD_SEMAPHORE));
  hold();
  eventfd_t value = 0;
  MUST(eventfd_read(fd, &value));
  same("counter", 41, (long)value);
  MUST(eventfd_read(semaphore, &value));
  same("semaphore", 1, (long)value);
  EXPECT(eventfd_read(semaphore, &value) == 0 && eventfd_read(semaphore, &value) == 0);
  EXPECT(eventfd_read(semaphore, &value) < 0 && errno == EAGAIN);
}

static void signal_descriptor(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGRTMIN + 2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int fd = MUST(signalfd(-1, &set, SFD_NONBLOCK));
  kill(getpid(), SIGUSR1);
  union sigval value = {.sival_int = 17};
  for (int i = 0; i < 3; i++, value.sival_int++) MUST(sigqueue(getpid(), SIGRTMIN + 2, value));
  hold();
  struct signalfd_siginfo info;
  same("bytes", sizeof info, read(fd, &info, sizeof info));
  same("signal", SIGUSR1, info.ssi_signo);
  same("sender", getpid(), info.ssi_pid);
  for (int i = 17; i < 20; i++) {
    same("bytes", sizeof info, read(fd, &info, sizeof info));
    same("value", i, info.ssi_int);
  }
  EXPECT(read(fd, &info, sizeof info) < 0 && errno == EAGAIN);
}

static int set_of(int fd, unsigned events) {
  int set = MUST(epoll_create1(0));
  struct epoll_event event = {.events = events, .data.u64 = 0xabcdef0123456789};
  MUST(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
  return set;
}

/* What was reported once is not reported again: nothing new has come. */
static void edge_triggered(void) {
  int ends[2];
  MUST(pipe(ends));
  int set = set_of(ends[0], EPOLLIN | EPOLLET);
  struct epoll_event event;
  MUST(write(ends[1], "x", 1));
  MUST(epoll_wait(set, &event, 1, 0) == 1 ? 0 : -1);
  hold();
  same("events that nothing caused", 0, epoll_wait(set, &event, 1, 0));
  MUST(write(ends[1], "y", 1));
  same("events", 1, epoll_wait(set, &event, 1, 0));
  EXPECT(event.data.u64 == 0xabcdef0123456789);
}

static void one_shot(void) {
  int ends[2];
  MUST(pipe(ends));
  int set = set_of(ends[0], EPOLLIN | EPOLLONESHOT);
  struct epoll_event event;
  MUST(write(ends[1], "x", 1));
  MUST(epoll_wait(set, &event, 1, 0) == 1 ? 0 : -1);
  hold();
  same("events of one that has fired", 0, epoll_wait(set, &event, 1, 0));
  event.events = EPOLLIN;
  EXPECT(epoll_ctl(set, EPOLL_CTL_MOD, ends[0], &event) == 0);
  same("events after it was set again", 1, epoll_wait(set, &event, 1, 0));
}

static void nested_sets(void) {
  int ends[2];
  MUST(pipe(ends));
  int inner = set_of(ends[0], EPOLLIN), outer = set_of(inner, EPOLLIN);
  hold();
  struct epoll_event event;
  same("events", 0, epoll_wait(outer, &event, 1, 0));
  MUST(write(ends[1], "x", 1));
  same("events", 1, epoll_wait(outer, &event, 1, 0));
}

/* A set keeps watching a descriptor that was closed while a copy of it lives. */
static void closed_in_set(void) {
  int ends[2];
  MUST(pipe(ends));
  int set = set_of(ends[0], EPOLLIN), copy = MUST(dup(ends[0]));
  close(ends[0]);
  hold();
  MUST(write(ends[1], "x", 1));
  struct epoll_event event;
  same("events of the closed descriptor", 1, epoll_wait(set, &event, 1, 0));
  same("read from its copy", 1, read(copy, bytes, 1));
}

static int sleeps(void) {
  while (pause() < 0) continue;
  return 0;
}
static void process_descriptor(void) {
  pid_t child = start(sleeps);
  int fd = (int)MUST(syscall(SYS_pidfd_open, child, 0));
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  char *was = slurp(path);
  hold();
  struct pollfd in = {.fd = fd, .events = POLLIN};
  same("whether it has ended", 0, poll(&in, 1, 0));
  same_lines("its details", was, slurp(path));
  EXPECT(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0);
  same("whether it ends", 1, poll(&in, 1, 5000));
  same("how it ended", 1000 + SIGKILL, end_of(child));
}

const struct program event_programs[] = {
    {"pipe-contents", pipe_contents},
    {"packet-pipe", packet_pipe},
    {"fifo-contents", fifo_contents},
    {"busy-pipe", busy_pipe},
    {"event-counter", event_counter},
    {"signal-descriptor", signal_descriptor},
    {"edge-triggered", edge_triggered},
    {"one-shot", one_shot},
    {"nested-sets", nested_sets},
    {"closed-in-set", closed_in_set},
    {"process-descriptor", process_descriptor},
    {0},
};
