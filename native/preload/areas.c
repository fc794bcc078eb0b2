/* Loaded into CRIU. For the areas of a large process it reads /proc/PID/smaps, and the kernel counts all pages
 * meanwhile. If there is a list of the areas without that (see cell/areas/areas.h), CRIU reads the list. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "raw.h"

#define LISTING "/tmp/tracking/smaps-" /* see also cell/criu/jail.h */

long open_listing(int process) {
  char link[64], path[64], listing[96];
  snprintf(link, sizeof link, "/proc/self/fd/%d", process);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return -1;
  path[length] = 0;
  if (strncmp(path, "/proc/", 6) || !path[6] || path[6 + strspn(path + 6, "0123456789")]) return -1;
  snprintf(listing, sizeof listing, LISTING "%s", path + 6);
  return raw_syscall(SYS_openat, AT_FDCWD, (long)listing, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}
