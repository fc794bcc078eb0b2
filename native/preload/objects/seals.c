/* Memory that a program has sealed with mseal(2). CRIU reads the flags of all areas, and does not know this one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "preload/raw.h"

#define MOST_LINE 512 /* the beginning of each line is enough */

static struct {
  int fd; /* where CRIU reads the areas of a process */
  int number;
  char line[MOST_LINE];
  size_t length;
  char area[64];
  bool is_kernels;
} reading = {.fd = -1};

void note_areas(int fd, int process) {
  char link[64], path[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", process);
  long length = raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, sizeof path - 1, 0, 0);
  path[length > 0 ? length : 0] = 0;
  reading.fd = strncmp(path, "/proc/", 6) ? -1 : fd;
  reading.number = atoi(path + (length > 6 ? 6 : 0));
  reading.length = 0;
}

/* What the kernel itself maps and may seal; a copy has its own. */
static bool is_of_kernel(const char *line) {
  const char *name = strstr(line, " [v");
  return (name && !strchr(name + 1, ' ')) || strstr(line, " [uprobes]");
}

static bool look_at_line(void) {
  char *line = reading.line;
  line[reading.length] = 0;
  size_t digits = strspn(line, "0123456789abcdef");
  if (digits && line[digits] == '-') {
    snprintf(reading.area, sizeof reading.area, "%.*s", (int)strcspn(line, " "), line);
    reading.is_kernels = is_of_kernel(line);
  }
  if (strncmp(line, "VmFlags:", 8) || !strstr(line, " sl") || reading.is_kernels) return true;
  return note("sealed %d %s", number_inside(reading.number), reading.area);
}

bool find_seals(int fd, const char *bytes, size_t count) {
  if (fd != reading.fd) return true;
  for (size_t at = 0; at < count; at++) {
    if (bytes[at] == '\n') {
      if (!look_at_line()) return false;
      reading.length = 0;
    } else if (reading.length < MOST_LINE - 1) {
      reading.line[reading.length++] = bytes[at];
    }
  }
  if (!count) reading.fd = -1;
  return true;
}
