/* Loaded into the CRIU of the criu backend, together with limits.c. The rest of preload/ is for cells. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/syscall.h>

#include "preload/calls.h"
#include "preload/raw.h"

long syscall(long number, ...) {
  long words[6];
  va_list list;
  va_start(list, number);
  for (size_t i = 0; i < 6; i++) words[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_prlimit64 && !words[2])
    return with_errno(read_limit((pid_t)words[0], (int)words[1], (struct rlimit *)words[3]));
  return with_errno(raw_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}
