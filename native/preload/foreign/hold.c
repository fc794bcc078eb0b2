/* Loaded into a CRIU that dumps processes which Forkpoint did not start, together with limits.c. The inventory is the
 * last image: everything else is dumped by then, and the processes still stand still. At that moment, this makes the
 * directory `held`, which says that their files can be copied, and waits until the writer of the FIFO `go` closes it.
 * The kernel does that, too, if the writer is killed, so that the processes never stand still for longer. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/raw.h"

static void hold(void) {
  long go = raw_syscall(SYS_openat, AT_FDCWD, (long)"go", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, 0, 0);
  if (go < 0) return;
  raw_syscall(SYS_mkdirat, AT_FDCWD, (long)"held", 0700, 0, 0, 0);
  char byte;
  struct pollfd closed = {.fd = (int)go, .events = POLLIN};
  while (raw_syscall(SYS_read, go, (long)&byte, 1, 0, 0, 0) == -EAGAIN)
    raw_syscall(SYS_ppoll, (long)&closed, 1, 0, 0, 0, 0);
  raw_syscall(SYS_close, go, 0, 0, 0, 0, 0);
}

int openat64(int directory, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  long mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, unsigned) : 0;
  va_end(list);
  if (flags & O_CREAT && !strcmp(path, "inventory.img")) hold();
  return (int)with_errno(raw_syscall(SYS_openat, directory, (long)path, flags | O_LARGEFILE, mode, 0, 0));
}
