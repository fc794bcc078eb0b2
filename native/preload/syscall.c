/* Loaded into CRIU beside it: the C library's way to call the kernel by number. */
#define _GNU_SOURCE
#include "calls.h"
#include "raw.h"

#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...) {
  long words[6];
  va_list list;
  va_start(list, number);
  for (size_t i = 0; i < 6; i++) words[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_clone3 && ((struct clone_args *)words[0])->flags & CLONE_NEWPID)
    return told(clone_cell((struct clone_args *)words[0], (size_t)words[1]));
  if (number == SYS_prlimit64 && !words[2])
    return told(read_limit((pid_t)words[0], (int)words[1], (struct rlimit *)words[3]));
  return told(raw_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}
