/* Terminals: modes, sizes, what was typed and not read, who is in the foreground. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static int master, slave;
static char bytes[4096];

static void open_terminal(void) {
  struct winsize size = {33, 101, 7, 9};
  MUST(openpty(&master, &slave, NULL, NULL, &size));
}

static void expect_input(int fd, const char *text) {
  struct pollfd in = {.fd = fd, .events = POLLIN};
  memset(bytes, 0, sizeof bytes);
  if (poll(&in, 1, 3000) != 1)
    notice("nothing to read");
  else
    same("bytes", (long)strlen(text), read(fd, bytes, sizeof bytes - 1));
  same_text("input", text, bytes);
}

static void raw_mode(void) {
  struct termios was = {0}, is = {0};
  open_terminal();
  MUST(tcgetattr(slave, &was));
  cfmakeraw(&was);
  was.c_cc[VMIN] = 5;
  was.c_cc[VTIME] = 3;
  MUST(tcsetattr(slave, TCSANOW, &was));
  MUST(tcgetattr(slave, &was));
  hold();
  MUST(tcgetattr(slave, &is));
  EXPECT(memcmp(&was, &is, sizeof was) == 0);
}

static volatile sig_atomic_t signals;
static void on_signal(int number) { signals = number; }

static void window_size(void) {
  struct winsize is;
  open_terminal();
  signal(SIGWINCH, on_signal);
  hold();
  MUST(ioctl(slave, TIOCGWINSZ, &is));
  same("rows", 33, is.ws_row);
  same("columns", 101, is.ws_col);
  same("pixels", 9, is.ws_ypixel);
  same("SIGWINCH", 0, signals);
}

static void unread_input(void) {
  open_terminal();
  MUST(write(master, "typed\nand more\n", 15));
  rest(0.1);
  hold();
  expect_input(slave, "typed\n");
  expect_input(slave, "and more\n");
}

/* CRIU may take two descriptors of one side for the two sides. */
static void input_of_two(void) {
  open_terminal();
  int other = MUST(open(ttyname(slave), O_RDWR | O_NOCTTY));
  /* The side that shows it comes last. */
  int last = MUST(dup2(master, 90));
  MUST(close(master));
  MUST(write(last, "typed\n", 6));
  rest(0.1);
  hold();
  expect_input(other, "typed\n");
}

static void half_line(void) {
  open_terminal();
  MUST(write(master, "half", 4));
  rest(0.1);
  hold();
  MUST(write(master, " and half\n", 10));
  expect_input(slave, "half and half\n");
}

static void line_and_half(void) {
  open_terminal();
  MUST(write(master, "typed\nhalf", 10));
  rest(0.1);
  hold();
  expect_input(slave, "typed\n");
  MUST(write(master, " and half\n", 10));
  expect_input(slave, "half and half\n");
}

static void unread_output(void) {
  open_terminal();
  MUST(write(slave, "printed", 7));
  rest(0.1);
  hold();
  expect_input(master, "printed");
}

/* A session of its own, with this terminal: a shell in the background of a job. */
static int foreground_job(void) {
  signal(SIGHUP, SIG_DFL);
  while (pause() < 0) continue;
  return 0;
}
static int leads_session(void) {
  MUST(setsid());
  MUST(ioctl(slave, TIOCSCTTY, 0));
  signal(SIGTTOU, SIG_IGN);
  signal(SIGHUP, on_signal);
  signal(SIGCONT, on_signal);
  pid_t job = start(foreground_job);
  MUST(setpgid(job, job));
  MUST(tcsetpgrp(slave, job));
  ready();
  until_over();
  same("foreground group", job, tcgetpgrp(slave));
  same("session of the terminal", getpid(), tcgetsid(slave));
  same("a signal", 0, signals);
  EXPECT(write(master, "\003", 1) == 1);
  same("end of the job by ^C", 1000 + SIGINT, end_of(job));
  return has_noticed();
}
static void foreground(void) {
  open_terminal();
  same("end of the session", 0, end_of(start(leads_session)));
}

/* Open as /dev/tty, as ssh-keygen, getpass and editors do. */
static int opens_tty(void) {
  MUST(setsid());
  MUST(ioctl(slave, TIOCSCTTY, 0));
  int tty = MUST(open("/dev/tty", O_RDWR));
  ready();
  until_over();
  struct winsize is;
  MUST(ioctl(tty, TIOCGWINSZ, &is));
  same("rows", 33, is.ws_row);
  EXPECT(write(tty, "through /dev/tty", 16) == 16);
  expect_input(master, "through /dev/tty");
  return has_noticed();
}
static void own_terminal(void) {
  open_terminal();
  same("end of the session", 0, end_of(start(opens_tty)));
}

static void identity(void) {
  struct stat was, is;
  open_terminal();
  char name[64], name_is[64];
  MUST(fstat(slave, &was));
  snprintf(name, sizeof name, "%s", ttyname(slave));
  hold();
  MUST(fstat(slave, &is));
  same("inode", (long)was.st_ino, (long)is.st_ino);
  same("device", (long)was.st_dev, (long)is.st_dev);
  same("number", (long)was.st_rdev, (long)is.st_rdev);
  same("change time", was.st_ctim.tv_nsec, is.st_ctim.tv_nsec);
  snprintf(name_is, sizeof name_is, "%s", ttyname(slave));
  same_text("name", name, name_is);
}

/* A reader in the middle of a line, as every shell that waits at its prompt. */
static int reads_line(void) {
  ssize_t got = read(slave, bytes, sizeof bytes);
  return got == 6 && memcmp(bytes, "hello\n", 6) == 0 ? 0 : got < 0 ? errno : 200;
}
static void waiting_reader(void) {
  open_terminal();
  pid_t child = start(reads_line);
  rest(0.1);
  hold();
  MUST(write(master, "hello\n", 6));
  same("how the reader ended", 0, end_of(child));
}

static void packet_mode(void) {
  open_terminal();
  MUST(ioctl(master, TIOCPKT, &(int){1}));
  hold();
  int is = 0;
  MUST(ioctl(master, TIOCGPKT, &is));
  same("packet mode", 1, is);
}

static void hung_up(void) {
  open_terminal();
  close(master);
  hold();
  same("read of a terminal that hung up", 0, read(slave, bytes, 1));
}

const struct program terminal_programs[] = {
    {"raw-mode", raw_mode},
    {"window-size", window_size},
    {"terminal-input", unread_input},
    {"terminal-opened-twice", input_of_two},
    {"terminal-half-line", half_line},
    {"terminal-line-and-half", line_and_half},
    {"terminal-output", unread_output},
    {"foreground-group", foreground},
    {"dev-tty", own_terminal},
    {"terminal-identity", identity},
    {"terminal-reader", waiting_reader},
    {"packet-mode", packet_mode},
    {"hung-up-terminal", hung_up},
    {0},
};
