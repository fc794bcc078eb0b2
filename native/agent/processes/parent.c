#include "parent.h"

#include <stdio.h>
#include <string.h>

#include "util.h"

/* More than the kernel writes there. */
#define STAT_LIMIT 4096

pid_t parent_of(pid_t pid) {
  char path[32];
  int parent = -1;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  autofree char *text = read_small_file(path, STAT_LIMIT);
  /* The name of a process may have brackets and spaces. */
  const char *after = text ? strrchr(text, ')') : NULL;
  return after && sscanf(after, ") %*c %d", &parent) == 1 ? parent : -1;
}
