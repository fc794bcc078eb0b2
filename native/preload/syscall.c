/* Loaded into CRIU. Replaces the C library's function for system calls by number. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "calls.h"
#include "raw.h"

long syscall(long number, ...) {
  long words[6];
  va_list list;
  va_start(list, number);
  for (size_t i = 0; i < 6; i++) words[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_clone3 && ((struct clone_args *)words[0])->flags & CLONE_NEWPID) {
    note_restore();
    return with_errno(clone_cell((struct clone_args *)words[0], (size_t)words[1]));
  }
  if (number == SYS_prlimit64 && !words[2])
    return with_errno(read_limit((pid_t)words[0], (int)words[1], (struct rlimit *)words[3]));
  if (number == SYS_open_by_handle_at)
    return with_errno(open_handle((int)words[0], (const void *)words[1], (int)words[2]));
  return with_errno(raw_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}
