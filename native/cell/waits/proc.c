#include "proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shared/owned.h"

bool read_proc(pid_t process, pid_t thread, const char *name, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/%s", process, thread, name);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
  text[length > 0 ? length : 0] = 0;
  return length > 0;
}
