/* Stopped children (SIGSTOP, Ctrl-Z). CRIU stops a restored process with a signal, and the kernel tells its parent, who
 * has been told before the snapshot. So the child stops here, while both are held, and the parent asks for it at once.
 * Whatever does not look as expected is left alone: then the parent is told twice, which programs must expect. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attributes.h"
#include "proc.h"
#include "shared/owned.h"
#include "waits.h"

#define BIT(number) (1ULL << ((number)-1))
#define STOPS (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define FIELDS_BEFORE_END 49 /* of /proc/PID/stat, from the state on, before what the parent would be told */

/* The file of a thread does not have it. */
void note_unasked_stop(FILE *to, pid_t process, const struct status *inside) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  const char *at = strrchr(text, ')');
  for (int i = 0; at && i <= FIELDS_BEFORE_END; i++) at = strchr(at + 1, ' ');
  if (at && strtol(at, NULL, 10)) fprintf(to, "unasked-stop %d %d -\n", inside->process, inside->thread);
}

struct signals {
  unsigned long long own, shared, blocked;
};

static bool read_signals(pid_t process, struct signals *signals) {
  char text[4096];
  const char *own, *shared, *blocked;
  if (!read_proc(process, process, "status", text, sizeof text)) return false;
  own = strstr(text, "\nSigPnd:"), shared = strstr(text, "\nShdPnd:"), blocked = strstr(text, "\nSigBlk:");
  return own && shared && blocked && sscanf(own, "\nSigPnd: %llx", &signals->own) == 1 &&
         sscanf(shared, "\nShdPnd: %llx", &signals->shared) == 1 &&
         sscanf(blocked, "\nSigBlk: %llx", &signals->blocked) == 1;
}

/* Nothing but a stop is about to happen to it. */
static bool is_about_to_stop(pid_t process) {
  struct signals signals;
  if (!read_signals(process, &signals)) return false;
  unsigned long long next = (signals.own | signals.shared) & ~signals.blocked;
  return next && !(next & ~STOPS) && !(next & (next - 1));
}

/* The thread of a process with only one, which is held; NULL if there is none. */
static const struct thread *find_held(const struct group *group, int inside, pid_t *process) {
  struct status status;
  for (size_t i = 0; i < group->process_count; i++) {
    const struct process *one = &group->processes[i];
    if (one->count != 1 || !read_status(one->pid, one->pid, &status) || status.process != inside) continue;
    *process = one->pid;
    return group->threads[one->first].is_stopped ? &group->threads[one->first] : NULL;
  }
  return NULL;
}

/* Lets it run with a signal until the kernel stops it; returns the signal it stops for, or 0. */
static int run_to_stop(pid_t thread, int signal) {
  int status;
  if (ptrace(PTRACE_CONT, thread, 0, signal)) return 0;
  while (waitpid(thread, &status, __WALL) < 0)
    if (errno != EINTR) return 0;
  return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

static bool is_waiting(pid_t process, int number) {
  struct signals signals;
  return read_signals(process, &signals) && (signals.own | signals.shared) & BIT(number);
}

/* It was not there before. */
static int take_signal(const struct target *target, int number) {
  struct {
    uint64_t set;
    int64_t time[2];
  } given = {.set = BIT(number)};
  uint64_t at;
  int code = place_inside(target, &given, sizeof given, &at);
  if (code) return code;
  code = make_inside(target, SYS_rt_sigtimedwait,
                     (uint64_t[6]){at, 0, at + offsetof(typeof(given), time), sizeof given.set});
  return code == EAGAIN ? 0 : code;
}

/* TARGET is the parent; VALUE is the number of the child inside. */
int put_told_stop(const struct target *target, const char *value) {
  unsigned long number;
  pid_t child;
  if (!parse_number(value, INT32_MAX, &number)) return EINVAL;
  const struct thread *thread = find_held(target->group, (int)number, &child);
  if (!thread || !is_about_to_stop(child)) return 0;
  bool had_signal = is_waiting(target->process, SIGCHLD);
  int signal = run_to_stop(thread->id, 0);
  if (!signal || !(BIT(signal) & STOPS) || run_to_stop(thread->id, signal) != signal) return ECHILD;
  int code = make_inside(target, SYS_waitid, (uint64_t[6]){P_PID, number, 0, WSTOPPED | WNOHANG});
  if (code) return code;
  return !had_signal && is_waiting(target->process, SIGCHLD) ? take_signal(target, SIGCHLD) : 0;
}
