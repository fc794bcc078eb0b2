#define _GNU_SOURCE
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

int64_t nanoseconds_of(const struct timespec *time) {
  int64_t nanoseconds;
  if (__builtin_mul_overflow(time->tv_sec, 1000000000LL, &nanoseconds) ||
      __builtin_add_overflow(nanoseconds, time->tv_nsec, &nanoseconds))
    return 0;
  return nanoseconds;
}

void modification_time(struct timespec times[2], int64_t nanoseconds) {
  times[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
  times[1] = (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
  if (times[1].tv_nsec < 0) {
    times[1].tv_sec--;
    times[1].tv_nsec += 1000000000;
  }
}

char *format(const char *template, ...) {
  va_list arguments;
  char *text;
  va_start(arguments, template);
  int length = vasprintf(&text, template, arguments);
  va_end(arguments);
  return length < 0 ? NULL : text;
}

char *read_small_file(const char *path, size_t limit) {
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return NULL;
  autofree char *text = NULL;
  size_t length = 0, capacity = 0;
  for (;;) {
    if (capacity - length < 2) {
      capacity = capacity ? capacity * 2 : 4096;
      char *grown = realloc(text, capacity);
      if (!grown) return NULL;
      text = grown;
    }
    ssize_t got = read(fd, text + length, capacity - length - 1);
    if (got < 0) return NULL;
    if (got == 0) break;
    length += got;
    if (length > limit) {
      errno = EFBIG;
      return NULL;
    }
  }
  text[length] = 0;
  return take_pointer(&text);
}

static int write_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t put = write(fd, bytes, length);
    if (put < 0) return -1;
    bytes += put;
    length -= put;
  }
  return 0;
}

/* For a file that is itself a mount: an engine mounts its own /etc/hostname and /etc/hosts. */
static int rewrite_small_file(const char *path, const char *content, struct error *error) {
  autoclose int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return error_set(error, errno, "open '%s'", path);
  return write_all(fd, content, strlen(content)) < 0 ? error_set(error, errno, "write '%s'", path) : 0;
}

int replace_small_file(const char *path, const char *content, mode_t mode, struct error *error) {
  autofree char *beside = format("%s.forkpoint", path);
  if (!beside) return error_set(error, ENOMEM, "malloc");
  unlink(beside); /* an interrupted run may have left it */
  autoclose int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return error_set(error, errno, "open '%s'", beside);
  if (write_all(fd, content, strlen(content)) < 0)
    error_set(error, errno, "write '%s'", beside);
  else if (fchmod(fd, mode) < 0)
    error_set(error, errno, "fchmod '%s'", beside);
  else if (rename(beside, path) < 0)
    error_set(error, errno, "rename '%s' to '%s'", beside, path);
  else
    return 0;
  unlink(beside);
  return error->code == EBUSY ? rewrite_small_file(path, content, error) : -1;
}
