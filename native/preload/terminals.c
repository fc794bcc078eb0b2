/* Loaded into CRIU. A dump reads what waits in a terminal, and writes it back at the end. That is not harmless: of
 * typed lines it sees only the complete ones, and puts them back after the incomplete one; the terminal echoes them
 * again, takes them for signals, and expands the ends of printed lines once more.
 *
 * So input is read here as it is, given back at once, and not written again. Output is written back as it was. A
 * restore writes both to a new terminal in the same manner.
 *
 * Behind a full terminal the kernel keeps more, which would come first if what was read were given back. Then nothing
 * is read, and the dump fails. */
#define _GNU_SOURCE
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

#define FULL 4095 /* bytes */
#define MOMENT_NS 200000

static bool is_restoring;
static int given_back = -1; /* the terminal whose input was just read */

void note_restore(void) { is_restoring = true; }
bool restores(void) { return is_restoring; }

static long control(int fd, unsigned request, void *argument) {
  return raw_syscall(SYS_ioctl, fd, request, (long)argument, 0, 0, 0);
}

static bool is_terminal(int fd, struct termios *mode) { return !control(fd, TCGETS, mode); }

/* The side of the program that shows the terminal. Its modes are those of the other side. */
static bool is_master(int fd) {
  unsigned number;
  return !control(fd, TIOCGPTN, &number);
}

/* Counted a moment after it was frozen, when nothing is on its way any more. */
static bool is_full(int fd) {
  struct timespec moment = {.tv_nsec = MOMENT_NS};
  int waiting = 0;
  if (control(fd, TIOCINQ, &waiting) || !waiting) return false;
  raw_syscall(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
  return !control(fd, TIOCINQ, &waiting) && waiting >= FULL;
}

/* Every character is data, except for those that end a line. */
static struct termios quiet(const struct termios *mode) {
  struct termios quiet = *mode;
  quiet.c_iflag = 0;
  quiet.c_lflag &= ~(unsigned)(ECHO | ECHONL | ISIG | IEXTEN);
  quiet.c_cc[VERASE] = quiet.c_cc[VKILL] = quiet.c_cc[VWERASE] = quiet.c_cc[VREPRINT] = quiet.c_cc[VLNEXT] = 0;
  return quiet;
}

/* In a terminal that collects lines, the kernel keeps a NUL where the input ended. */
static char as_typed(const struct termios *mode, char byte) {
  return !byte && mode->c_lflag & ICANON ? (char)mode->c_cc[VEOF] : byte;
}

static void give_back(int fd, const struct termios *mode, const char *bytes, long count) {
  struct termios calm = quiet(mode);
  control(fd, TCSETS, &calm);
  for (long i = 0; i < count; i++) {
    char byte = as_typed(mode, bytes[i]);
    control(fd, TIOCSTI, &byte);
  }
}

static long read_input(int fd, const struct termios *mode, char *buffer, size_t size) {
  if (given_back == fd) {
    given_back = -1;
    return -EAGAIN;
  }
  struct termios whole = *mode;
  whole.c_lflag &= ~(unsigned)ICANON; /* also what is not a complete line yet */
  control(fd, TCSETS, &whole);
  long count = is_full(fd) ? -EOVERFLOW : raw_syscall(SYS_read, fd, (long)buffer, (long)size, 0, 0, 0);
  control(fd, TCSETS, (void *)mode);
  if (count <= 0) return count;
  give_back(fd, mode, buffer, count);
  control(fd, TCSETS, (void *)mode);
  given_back = fd;
  return count;
}

ssize_t read(int fd, void *buffer, size_t size) {
  struct termios mode;
  if (!is_restoring && is_terminal(fd, &mode)) {
    if (!is_master(fd)) return (ssize_t)with_errno(read_input(fd, &mode, buffer, size));
    if (is_full(fd)) return (ssize_t)with_errno(-EOVERFLOW);
  }
  long length = raw_syscall(SYS_read, fd, (long)buffer, (long)size, 0, 0, 0);
  if (length >= 0 && !find_seals(fd, buffer, (size_t)length)) length = -EIO;
  if (length > 0 && !is_restoring) length = (long)change_description(fd, buffer, (size_t)length, size);
  return (ssize_t)with_errno(length);
}

static long write_output(int fd, const struct termios *mode, const void *bytes, size_t size) {
  struct termios plain = *mode;
  plain.c_oflag &= ~(unsigned)OPOST;
  control(fd, TCSETS, &plain);
  long count = raw_syscall(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
  control(fd, TCSETS, (void *)mode);
  return count;
}

/* The other side takes it later. Asking that side for input waits until it has begun to, and then the modes cannot
 * change until it is done. */
static void await_arrival(int fd) {
  long other = control(fd, TIOCGPTPEER, (void *)(long)(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (other < 0) return;
  struct pollfd input = {.fd = (int)other, .events = POLLIN};
  struct timespec at_once = {0};
  raw_syscall(SYS_ppoll, (long)&input, 1, (long)&at_once, 0, 0, 0);
  raw_syscall(SYS_close, other, 0, 0, 0, 0, 0);
}

static long write_input(int fd, const struct termios *mode, const void *bytes, size_t size) {
  struct termios calm = quiet(mode);
  control(fd, TCSETS, &calm);
  long count = raw_syscall(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
  await_arrival(fd);
  control(fd, TCSETS, (void *)mode);
  return count;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  struct termios mode;
  if (!is_terminal(fd, &mode)) return (ssize_t)with_errno(raw_syscall(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0));
  if (!is_master(fd)) return (ssize_t)with_errno(write_output(fd, &mode, bytes, size));
  if (!is_restoring) return (ssize_t)size; /* input, which is back already */
  return (ssize_t)with_errno(write_input(fd, &mode, bytes, size));
}
