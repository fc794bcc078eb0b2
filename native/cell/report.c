#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

enum { FAILED = 1, REFUSED = 2 };

static int report_fd = STDERR_FILENO;

void report_errors_to(int fd) { report_fd = fd; }

void die_of(const struct error *error) {
  char line[sizeof error->text + 32];
  if (error->code)
    snprintf(line, sizeof line, "%s (errno %d)\n", error->text, error->code);
  else
    snprintf(line, sizeof line, "%s\n", error->text);
  (void)write_all(report_fd, line, strlen(line)); /* the reader may be gone; nobody else is left to tell */
  _exit(error->code ? FAILED : REFUSED);
}

void die(const char *template, ...) {
  int code = errno;
  struct error error;
  va_list arguments;
  va_start(arguments, template);
  error_set_list(&error, code, template, arguments);
  va_end(arguments);
  die_of(&error);
}

void die_because(const char *template, ...) {
  struct error error;
  va_list arguments;
  va_start(arguments, template);
  error_refuse_list(&error, 0, template, arguments);
  va_end(arguments);
  die_of(&error);
}

void *require_memory(void *memory) {
  if (memory) return memory;
  errno = ENOMEM;
  die("malloc");
}

void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  size_t length = strlen(text);
  /* The kernel takes each write to one of its own files as a whole, so there is no rest to write. */
  ssize_t written = write(fd, text, length);
  if (written < 0) die("write '%s'", path);
  if ((size_t)written != length) die_because("write '%s': the kernel took %zd of %zu bytes", path, written, length);
  close(fd);
}
