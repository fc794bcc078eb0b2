/* Loaded into CRIU. While a dump has a process make system calls, it also asks what only the process itself is told:
 * whether it gave up memory that can be both written and executed. CRIU does not know of that, and a copy without it
 * would be less safe than the original. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

#define GET_DENIAL 66 /* PR_GET_MDWE, which older headers do not have */

static long trace(long request, pid_t pid, long address, long data) {
  return raw_syscall(SYS_ptrace, request, pid, address, data, 0, 0);
}

#if defined(__x86_64__)

#define SYSCALL_CODE 0x050f

static bool get_registers(pid_t pid, struct user_regs_struct *registers) {
  return !trace(PTRACE_GETREGS, pid, 0, (long)registers);
}

/* Whether it is about to make a system call for CRIU. */
static bool calls_next(pid_t pid, const struct user_regs_struct *registers) {
  long word = 0;
  return !trace(PTRACE_PEEKTEXT, pid, (long)registers->rip, (long)&word) && (word & 0xffff) == SYSCALL_CODE;
}

/* What its answer is; -1 if there is none. The code that CRIU has placed there ends with a trap. */
static long ask(pid_t pid, const struct user_regs_struct *before) {
  struct user_regs_struct registers = *before;
  int status = 0;
  registers.rax = SYS_prctl;
  registers.rdi = GET_DENIAL;
  registers.rsi = registers.rdx = registers.r10 = registers.r8 = 0;
  registers.orig_rax = (unsigned long)-1;
  if (trace(PTRACE_SETREGS, pid, 0, (long)&registers) || trace(PTRACE_CONT, pid, 0, 0)) return -1;
  if (raw_syscall(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0) != pid || !WIFSTOPPED(status)) return -1;
  return get_registers(pid, &registers) ? (long)registers.rax : -1;
}

/* False if the process cannot continue as CRIU wants it to. A process that CRIU has not prepared may be about to make a
 * call of its own, as one that is stopped and has not run yet since it was restored. It must be left alone. */
static bool ask_beforehand(pid_t pid, bool is_prepared) {
  static pid_t last;
  struct user_regs_struct registers;
  if (!is_prepared || pid == last || !get_registers(pid, &registers) || !calls_next(pid, &registers)) return true;
  last = pid;
  long denial = ask(pid, &registers);
  if (trace(PTRACE_SETREGS, pid, 0, (long)&registers)) return false;
  return denial <= 0 || note("denial %d %ld", number_inside(pid), denial);
}

#else

static bool ask_beforehand(pid_t pid, bool is_prepared) {
  (void)pid, (void)is_prepared;
  return true;
}

#endif

long ptrace(enum __ptrace_request request, ...) {
  static pid_t prepared; /* the process whose signals CRIU has blocked, to run code of its own */
  va_list list;
  va_start(list, request);
  pid_t pid = va_arg(list, pid_t);
  long address = va_arg(list, long), data = va_arg(list, long), word = 0;
  va_end(list);
  /* The C library returns what these requests write. */
  bool peeks = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
  if (request == PTRACE_CONT && !restores() && !ask_beforehand(pid, pid == prepared)) return with_errno(-ESRCH);
  if (request == PTRACE_SETSIGMASK) prepared = pid;
  if (request == PTRACE_CONT) prepared = 0;
  long result = with_errno(trace(request, pid, address, peeks ? (long)&word : data));
  if (request == PTRACE_GETSIGINFO && !result) note_stop(pid, (const void *)data);
  if (!peeks || result < 0) return result;
  *__errno_location() = 0;
  return word;
}
