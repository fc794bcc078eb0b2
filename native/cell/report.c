/* Failures: the syscall or step, what it was applied to, and errno in words. */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report_fd = STDERR_FILENO;

void report_errors_to(int fd) { report_fd = fd; }

void die(const char *what, const char *on) {
  int error = errno;
  char line[1024];
  int n = snprintf(line, sizeof line, "%s '%s': %s (errno %d)\n", what, on, strerror(error), error);
  if (n > 0) (void)!write(report_fd, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
  _exit(1);
}

void die_usage(const char *what, const char *value) {
  dprintf(report_fd, "%s: %s\n", what, value ? value : "(missing)");
  _exit(2);
}

void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) die("open", path);
  size_t length = strlen(text);
  if (write(fd, text, length) != (ssize_t)length) die("write", path);
  close(fd);
}
