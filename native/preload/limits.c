/* Loaded into CRIU, which asks for the limits of the processes that it dumps. The kernel answers only the owner of
 * their user namespace, and a root with CAP_SYS_RESOURCE, which not every root has. /proc shows the limits, too. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "raw.h"

#define SOFT_AT 26
#define HARD_AT 47

static rlim_t value_of(const char *text) {
  return strncmp(text, "unlimited", 9) ? (rlim_t)strtoull(text, NULL, 10) : RLIM_INFINITY;
}

/* After the heading comes one line for each limit, in the order of their numbers. */
static long find_limit(const char *text, int resource, struct rlimit *limit) {
  const char *line = text;
  for (int i = 0; line && i <= resource; i++) {
    line = strchr(line, '\n');
    if (line) line++;
  }
  if (!line || strlen(line) <= HARD_AT) return -EPERM;
  *limit = (struct rlimit){.rlim_cur = value_of(line + SOFT_AT), .rlim_max = value_of(line + HARD_AT)};
  return 0;
}

long read_limit(pid_t pid, int resource, struct rlimit *limit) {
  long result = raw_syscall(SYS_prlimit64, pid, resource, 0, (long)limit, 0, 0);
  if (result != -EPERM) return result;
  char path[32], text[4096];
  snprintf(path, sizeof path, "/proc/%d/limits", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -EPERM;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length > 0 ? length : 0] = 0;
  return find_limit(text, resource, limit);
}
