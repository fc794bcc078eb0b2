/* Pipes, FIFOs, eventfd, epoll, inotify and a terminal. */
#define _GNU_SOURCE
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/* What is queued in a pipe, without taking it out. */
static bool queued(int fd, const char *text) {
  int copy[2];
  char buffer[64] = "";
  size_t length = strlen(text);
  MUST(pipe(copy));
  bool same = tee(fd, copy[1], sizeof buffer, SPLICE_F_NONBLOCK) == (ssize_t)length &&
              read(copy[0], buffer, sizeof buffer) == (ssize_t)length &&
              !memcmp(buffer, text, length);
  close(copy[0]);
  close(copy[1]);
  return same;
}

static int ends[2], fifo, closed_end;

static void make_pipes(void) {
  MUST(pipe(ends));
  MUST(fcntl(ends[1], F_SETPIPE_SZ, 16384));
  MUST(write(ends[1], "queued in a pipe", 16));
  MUST(mkfifo("fifo", 0600));
  fifo = MUST(open("fifo", O_RDWR | O_NONBLOCK));
  MUST(write(fifo, "queued in a fifo", 16));
  int half[2];
  MUST(pipe(half));
  MUST(close(half[1]));
  closed_end = half[0];
}

static bool pipes_hold(void) {
  char byte;
  return queued(ends[0], "queued in a pipe") && fcntl(ends[0], F_GETPIPE_SZ) == 16384 &&
         queued(fifo, "queued in a fifo") && read(closed_end, &byte, 1) == 0;
}

static int counter;

static void make_eventfd(void) { counter = MUST(eventfd(7, EFD_NONBLOCK)); }

static bool eventfd_holds(void) {
  uint64_t value = 0;
  return read(counter, &value, 8) == 8 && value == 7 && read(counter, &value, 8) < 0 &&
         write(counter, &(uint64_t){7}, 8) == 8;
}

static int set, nested, quiet[2];

static void watch(int in, int fd, uint32_t events, uint64_t cookie) {
  MUST(epoll_ctl(in, EPOLL_CTL_ADD, fd, &(struct epoll_event){events, {.u64 = cookie}}));
}

static void make_epoll(void) {
  set = MUST(epoll_create1(EPOLL_CLOEXEC));
  nested = MUST(epoll_create1(0));
  MUST(pipe(quiet));
  watch(set, ends[0], EPOLLIN, 0x1111222233334444);
  watch(set, quiet[0], EPOLLIN | EPOLLET, 2);
  watch(nested, set, EPOLLIN, 3);
}

static bool epoll_holds(void) {
  struct epoll_event events[4];
  bool inner = epoll_wait(set, events, 4, 0) == 1 && events[0].data.u64 == 0x1111222233334444;
  bool outer = epoll_wait(nested, events, 4, 0) == 1 && events[0].data.u64 == 3;
  /* Edge-triggered: it fires once for what comes in. */
  MUST(write(quiet[1], "x", 1));
  bool fired = epoll_wait(set, events, 4, 0) == 2;
  bool once = epoll_wait(set, events, 4, 0) == 1;
  char byte;
  return read(quiet[0], &byte, 1) == 1 && inner && outer && fired && once;
}

static int watcher;

static void make_inotify(void) {
  MUST(mkdir("observed", 0700));
  watcher = MUST(inotify_init1(IN_NONBLOCK));
  MUST(inotify_add_watch(watcher, "observed", IN_CREATE | IN_DELETE));
}

static bool reports(uint32_t mask, const char *name) {
  char buffer[4096] __attribute__((aligned(8)));
  const struct inotify_event *event = (void *)buffer;
  return read(watcher, buffer, sizeof buffer) > 0 && event->mask == mask &&
         !strcmp(event->name, name);
}

static bool inotify_holds(void) {
  close(open("observed/file", O_CREAT | O_WRONLY, 0600));
  bool created = reports(IN_CREATE, "file");
  unlink("observed/file");
  return reports(IN_DELETE, "file") && created;
}

static int master, slave;

static void make_terminal(void) {
  master = MUST(posix_openpt(O_RDWR | O_NOCTTY));
  MUST(unlockpt(master));
  slave = MUST(open(ptsname(master), O_RDWR | O_NOCTTY));
  struct termios mode;
  MUST(tcgetattr(slave, &mode));
  cfmakeraw(&mode);
  mode.c_cc[VMIN] = 3;
  MUST(tcsetattr(slave, TCSANOW, &mode));
  MUST(ioctl(master, TIOCSWINSZ, &(struct winsize){.ws_row = 33, .ws_col = 99}));
}

static bool terminal_holds(void) {
  struct termios mode;
  struct winsize size;
  char text[8];
  bool modes = tcgetattr(slave, &mode) == 0 && !(mode.c_lflag & ICANON) && mode.c_cc[VMIN] == 3;
  bool sizes = ioctl(slave, TIOCGWINSZ, &size) == 0 && size.ws_row == 33 && size.ws_col == 99;
  bool carries = write(master, "abc", 3) == 3 && read(slave, text, 8) == 3 &&
                 write(slave, "xyz", 3) == 3 && read(master, text, 8) == 3;
  return modes && sizes && carries;
}

const struct object pipe_objects[] = {
    {"data queued in a pipe and a fifo", make_pipes, pipes_hold},
    {"the value of an eventfd", make_eventfd, eventfd_holds},
    {"epoll sets, one in another", make_epoll, epoll_holds},
    {"an inotify watch", make_inotify, inotify_holds},
    {"a terminal's modes and size", make_terminal, terminal_holds},
    {0},
};
