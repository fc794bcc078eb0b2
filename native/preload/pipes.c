/* Loaded into CRIU. A user may have only so much memory in pipes; beyond that, a restored pipe is small, and cannot be
 * made as large as it was. Then `cell` does that afterwards, and fills it (see cell/queues/pipes.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "calls.h"
#include "raw.h"

static int small = -1; /* the pipe whose size could not be set */

long note_pipe_size(int fd, long wanted, long result) {
  if (!restores()) return result;
  small = result == -EPERM ? fd : -1;
  return result == -EPERM ? wanted : result;
}

ssize_t vmsplice(int fd, const struct iovec *parts, size_t count, unsigned flags) {
  if (restores() && fd == small && count == 1) return (ssize_t)parts->iov_len;
  return (ssize_t)with_errno(raw_syscall(SYS_vmsplice, fd, (long)parts, (long)count, flags, 0, 0));
}
