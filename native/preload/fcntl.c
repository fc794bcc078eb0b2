/* Loaded into CRIU. Replaces the C library's function that changes descriptors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

static int converted = -1; /* CRIU asks next whether all flags were set */

int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  if (command == F_SETFL && argument & SEMAPHORE_MARK && restores() && is_event_counter(fd)) {
    long failed = become_semaphore(fd);
    if (failed) return (int)with_errno(failed);
    argument &= ~SEMAPHORE_MARK;
    converted = fd;
  }
  long result = raw_syscall(SYS_fcntl, fd, command, argument, 0, 0, 0);
  if (command == F_SETPIPE_SZ) result = note_pipe_size(fd, argument, result);
  if (command == F_GETFL && fd == converted && result >= 0) {
    result |= SEMAPHORE_MARK;
    converted = -1;
  }
  return (int)with_errno(result);
}
