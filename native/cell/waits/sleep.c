/* When a thread fell asleep. The kernel tells when it last ran, by a clock of the CPU that it ran on. That clock stands
 * still while the CPU handles interrupts, so it is compared with the monotonic one now, on the same CPU. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"
#include "waits.h"

#define MOST_CPUS 1024
#define MOMENT_NS 20000 /* a sleep after which the kernel has noted that we ran */

uint64_t monotonic_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Milliseconds with six decimals. */
static uint64_t ran_until(pid_t process, pid_t thread) {
  char text[4096];
  unsigned long long milliseconds;
  unsigned nanoseconds;
  if (!read_proc(process, thread, "sched", text, sizeof text)) return 0;
  const char *line = strstr(text, "\nse.exec_start");
  line = line ? strchr(line, ':') : NULL;
  if (!line || sscanf(line, ": %llu.%6u", &milliseconds, &nanoseconds) != 2) return 0;
  return milliseconds * 1000000 + nanoseconds;
}

static int last_cpu(pid_t process, pid_t thread) {
  char text[1024];
  int cpu = -1;
  const char *at = read_proc(process, thread, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
  for (int i = 0; at && i < 37; i++) at = strchr(at + 1, ' ');
  return at && sscanf(at, " %d", &cpu) == 1 && cpu >= 0 && cpu < MOST_CPUS ? cpu : -1;
}

/* What to add to the clock of a CPU. */
static int64_t difference(int cpu) {
  static struct {
    bool is_known;
    int64_t difference;
  } known[MOST_CPUS];
  if (known[cpu].is_known) return known[cpu].difference;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(cpu, &here);
  sched_setaffinity(0, sizeof here, &here); /* if it is refused, the clock of another CPU is about as good */
  nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
  uint64_t own = ran_until(getpid(), getpid());
  known[cpu].is_known = true;
  return known[cpu].difference = (int64_t)(monotonic_now() - own);
}

uint64_t last_ran(pid_t process, pid_t thread) {
  uint64_t until = ran_until(process, thread);
  int cpu = until ? last_cpu(process, thread) : -1;
  return cpu < 0 ? 0 : (uint64_t)((int64_t)until + difference(cpu));
}
