/* An eventfd that is a semaphore. CRIU makes a plain one, and then sets the flags that it has in the images; the
 * surgery marks a semaphore there with a flag that no eventfd can have (see src/criu/images/noted/counters.ts). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "preload/raw.h"

bool is_event_counter(int fd) {
  char link[64], target[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)target, sizeof target - 1, 0, 0);
  if (length <= 0) return false;
  target[length] = 0;
  return !strcmp(target, "anon_inode:[eventfd]");
}

/* Nobody else has it yet. */
long become_semaphore(int fd) {
  uint64_t count = 0;
  long semaphore = raw_syscall(SYS_eventfd2, 0, EFD_SEMAPHORE | EFD_NONBLOCK, 0, 0, 0, 0);
  if (semaphore < 0) return semaphore;
  long counted = raw_syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK, 0, 0, 0);
  if (!counted) counted = raw_syscall(SYS_read, fd, (long)&count, sizeof count, 0, 0, 0);
  if (counted > 0) counted = raw_syscall(SYS_write, semaphore, (long)&count, sizeof count, 0, 0, 0);
  if (counted == -EAGAIN) counted = 0; /* it was 0 */
  if (counted >= 0) counted = raw_syscall(SYS_dup3, semaphore, fd, 0, 0, 0, 0);
  raw_syscall(SYS_close, semaphore, 0, 0, 0, 0, 0);
  return counted < 0 ? counted : 0;
}
