/* Takes fcntl locks on behalf of restored processes. When a process closes any descriptor of a file, the kernel drops
 * all its locks on that file, and CRIU closes one for every shared mapping after it has restored the locks. Only the
 * process itself can take them again. So every thread of the frozen cell is stopped before the cell is thawed, and
 * nothing but that one system call runs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "criu.h"
#include "report.h"
#include "stopped.h"
#include "walls.h"

#define BELOW_STACK 1024 /* beyond what code may use below its stack pointer, and what a call needs */

static int number_inside(pid_t pid) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "re");
  int last = -1;
  while (status && last < 0 && fgets(line, sizeof line, status))
    if (!strncmp(line, "NSpid:", 6)) last = atoi(strrchr(line, '\t') + 1);
  if (status) fclose(status);
  return last;
}

static const struct thread *leader_of(const struct group *group, int inner) {
  for (size_t i = 0; i < group->process_count; i++)
    if (number_inside(group->processes[i].pid) == inner && group->processes[i].count)
      return &group->threads[group->processes[i].first];
  die_because("the cell has no process %d", inner);
}

/* Has the process take the lock. Its memory is afterwards as before. */
static void take_lock(struct group *group, const struct thread *thread, int fd, struct flock lock) {
  pid_t pid = group->processes[thread->process].pid;
  struct error error;
  registers regs;
  struct flock overwritten;
  long result;
  if (get_registers(thread->id, &regs, &error)) die_of(&error);
  uint64_t at = (STACK(&regs) - BELOW_STACK) & ~15ULL;
  if (read_memory(pid, at, &overwritten, sizeof overwritten, &error)) die_of(&error);
  if (write_memory(pid, at, &lock, sizeof lock, &error)) die_of(&error);
  uint64_t arguments[6] = {(uint64_t)fd, F_SETLK, at};
  if (inject_syscall(group, thread, SYS_fcntl, arguments, &result, &error)) die_of(&error);
  if (write_memory(pid, at, &overwritten, sizeof overwritten, &error)) die_of(&error);
  if (result == 0) return;
  errno = (int)-result;
  die("fcntl F_SETLK on descriptor %d of pid %d", fd, pid);
}

/* Lines on stdin: PID FD TYPE START LENGTH, with numbers as inside the cell. With `hold` the cell is frozen again
 * while its threads are stopped, so that none of them runs. */
void verb_relock(char **words) {
  const char *cgroup = words[0];
  bool stays_frozen = words[1] != NULL;
  struct group group;
  if (stays_frozen && strcmp(words[1], "hold")) die_because("'%s' is not `hold`", words[1]);
  stop_group(&group, cgroup);
  int pid, fd, type;
  long long start, length;
  while (scanf("%d %d %d %lld %lld", &pid, &fd, &type, &start, &length) == 5)
    take_lock(&group, leader_of(&group, pid), fd,
              (struct flock){.l_type = (short)type, .l_start = start, .l_len = length});
  if (stays_frozen) set_frozen(cgroup, true);
  let_go(&group);
}
