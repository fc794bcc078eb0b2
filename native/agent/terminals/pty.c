#define _GNU_SOURCE
#include "pty.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "util.h"

int pty_resize(int master, int cols, int rows) {
  struct winsize size = {.ws_col = cols, .ws_row = rows};
  return ioctl(master, TIOCSWINSZ, &size);
}

int pty_open(int cols, int rows, char path[PTY_PATH], struct error *error) {
  autoclose int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  int locked = 0;
  unsigned int number;
  if (master < 0) return error_set(error, errno, "open '/dev/ptmx'");
  if (ioctl(master, TIOCSPTLCK, &locked) < 0) return error_set(error, errno, "ioctl TIOCSPTLCK");
  if (ioctl(master, TIOCGPTN, &number) < 0) return error_set(error, errno, "ioctl TIOCGPTN");
  if (pty_resize(master, cols, rows) < 0) return error_set(error, errno, "ioctl TIOCSWINSZ");
  snprintf(path, PTY_PATH, "/dev/pts/%u", number);
  return take_fd(&master);
}
