#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "preload/raw.h"

int number_inside(pid_t pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  long length = fd < 0 ? 0 : raw_syscall(SYS_read, fd, (long)text, sizeof text - 1, 0, 0, 0);
  if (fd >= 0) raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
  text[length > 0 ? length : 0] = 0;
  char *line = strstr(text, "\nNSpid:");
  if (!line) return 0;
  line[1 + strcspn(line + 1, "\n")] = 0;
  return atoi(strrchr(line, '\t') + 1); /* a number for each namespace, the innermost last */
}
