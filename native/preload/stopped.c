/* Loaded into CRIU: processes that were stopped (SIGSTOP, Ctrl-Z) when a dump met them.
 *
 * When CRIU lets go of such a process, it sends the signal once more. But the kernel has not forgotten the stop, so the
 * process stops without it, and the signal would wait, for everybody to see, until the process is continued. */
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "calls.h"
#include "raw.h"

#define MOST_PIDS (1 << 22) /* of the kernel */
#define PER_BYTE 8

static unsigned char stopped[MOST_PIDS / PER_BYTE];

static bool is_stop(int number) {
  return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Later stops have other reasons. */
void note_stop(pid_t pid, const siginfo_t *info) {
  bool is_stopped = info->si_code >> 8 == PTRACE_EVENT_STOP && is_stop(info->si_signo);
  if (is_stopped && pid > 0 && pid < MOST_PIDS) stopped[pid / PER_BYTE] |= (unsigned char)(1 << pid % PER_BYTE);
}

static bool was_stopped(pid_t pid) {
  return pid > 0 && pid < MOST_PIDS && stopped[pid / PER_BYTE] & 1 << pid % PER_BYTE;
}

int kill(pid_t pid, int number) {
  if (is_stop(number) && !restores() && was_stopped(pid)) return 0;
  return (int)with_errno(raw_syscall(SYS_kill, pid, number, 0, 0, 0, 0));
}
