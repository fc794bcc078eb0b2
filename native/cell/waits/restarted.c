/* A call that the kernel continues after a stop, as after Ctrl-Z and `fg`, has another number: SYS_restart_syscall. Its
 * arguments are still those of the call that the program made. */
#include <string.h>
#include <sys/syscall.h>

#include "proc.h"
#include "waits.h"

#if defined(__x86_64__)

#define MOST_CLOCKS 16 /* a smaller number is a clock, and no address */

/* The kernel tells the function that the thread waits in; for sleeps, some kernels tell the one that called it. Only
 * these four calls are continued so. */
long made_call(pid_t process, pid_t thread, const uint64_t arguments[ARGUMENTS]) {
  char place[64];
  if (!read_proc(process, thread, "wchan", place, sizeof place)) return -1;
  if (strstr(place, "futex")) return SYS_futex;
  if (strstr(place, "poll")) return SYS_poll;
  if (!strstr(place, "nanosleep") && !strstr(place, "syscall")) return -1;
  return arguments[0] < MOST_CLOCKS ? SYS_clock_nanosleep : SYS_nanosleep;
}

bool is_restarted(long number) { return number == SYS_restart_syscall; }

#else

long made_call(pid_t process, pid_t thread, const uint64_t arguments[ARGUMENTS]) {
  (void)process, (void)thread, (void)arguments;
  return -1;
}

bool is_restarted(long number) { return (void)number, false; }

#endif
