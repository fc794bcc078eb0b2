/* System calls that a stopped thread makes for us. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "stub.h"

/* With PTRACE_O_TRACESYSGOOD. */
static bool is_at_call(int status) { return WSTOPSIG(status) == (SIGTRAP | 0x80); }
/* On its way out of the kernel, where it also was when we stopped it. */
static bool is_at_rest(int status) { return status >> 16 == PTRACE_EVENT_STOP; }

/* Lets a thread run until it stops for this reason. Other stops come from before. */
static int run_until(pid_t thread, int how, bool (*is_there)(int status), struct error *error) {
  for (int status;;) {
    if (ptrace(how, thread, 0, 0)) return error_set(error, errno, "ptrace request %d of thread %d", how, thread);
    while (waitpid(thread, &status, __WALL) < 0)
      if (errno != EINTR) return error_set(error, errno, "waitpid for thread %d", thread);
    if (!WIFSTOPPED(status)) return error_refuse(error, 0, "thread %d ended during a system call", thread);
    if (is_there(status)) return 0;
  }
}

/* Through the call. With PTRACE_SINGLESTEP, the thread would die of SIGTRAP if we were killed meanwhile. And it must
 * come to rest: only there does the kernel restart calls that were interrupted. */
static int pass_call(pid_t thread, struct error *error) {
  if (run_until(thread, PTRACE_SYSCALL, is_at_call, error)) return -1;
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0))
    return error_set(error, errno, "ptrace PTRACE_INTERRUPT of thread %d", thread);
  return run_until(thread, PTRACE_CONT, is_at_rest, error);
}

static int get_mask(pid_t thread, uint64_t *mask, struct error *error) {
  if (!ptrace(PTRACE_GETSIGMASK, thread, sizeof *mask, mask)) return 0;
  return error_set(error, errno, "ptrace PTRACE_GETSIGMASK of thread %d", thread);
}

static int set_mask(pid_t thread, uint64_t mask, struct error *error) {
  if (!ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask)) return 0;
  return error_set(error, errno, "ptrace PTRACE_SETSIGMASK of thread %d", thread);
}

/* The kernel forgets that a thread is in a restartable sequence when it runs elsewhere for a moment. */
struct sequence {
  uint64_t at, value;
};

static void note_sequence(const struct process *process, pid_t thread, struct sequence *sequence) {
  struct __ptrace_rseq_configuration found;
  struct error ignored;
  *sequence = (struct sequence){0};
  if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread, sizeof found, &found) != sizeof found) return;
  if (!found.rseq_abi_pointer) return;
  uint64_t at = found.rseq_abi_pointer + 8; /* the field rseq_cs of struct rseq */
  if (!read_memory(process->pid, at, &sequence->value, sizeof sequence->value, &ignored)) sequence->at = at;
}

static int put_sequence_back(const struct process *process, const struct sequence *sequence, struct error *error) {
  if (!sequence->at || !sequence->value) return 0;
  return write_memory(process->pid, sequence->at, &sequence->value, sizeof sequence->value, error);
}

#if defined(__x86_64__)

/* What the thread continues with if we cannot give its registers back: then nobody restarts its call. */
static struct inject_frame frame_of(const registers *before, uint64_t mask) {
  struct inject_frame frame = {mask,        before->rax, before->rcx, before->r11, before->rdi,    before->rsi,
                               before->rdx, before->r10, before->r8,  before->r9,  before->eflags, before->rip};
  if ((long)before->orig_rax < 0) return frame;
  switch (RESULT(before)) {
    case RESTART_BLOCK: frame.rax = (uint64_t)-EINTR; break;
    case RESTART_SYS:
    case RESTART_NO_INTR:
    case RESTART_NO_HAND: frame.rax = before->orig_rax; frame.rip -= CALL_LENGTH;
  }
  return frame;
}

static int prepare(struct process *process, pid_t thread, const registers *before, uint64_t mask, registers *during,
                   struct error *error) {
  struct inject_frame frame = frame_of(before, mask);
  uint64_t code = place_code(process, thread);
  if (!code) return error_refuse(error, 0, "pid %d has no room for code in its vdso", process->pid);
  *during = *before;
  during->rsp = before->rsp - RED_ZONE - sizeof frame;
  during->rip = code + INJECT;
  during->orig_rax = (uint64_t)-1; /* no interrupted call to restart */
  return write_memory(process->pid, during->rsp, &frame, sizeof frame, error);
}

static void set_call(registers *regs, long number, const uint64_t a[6]) {
  regs->rax = (uint64_t)number;
  regs->rdi = a[0], regs->rsi = a[1], regs->rdx = a[2], regs->r10 = a[3], regs->r8 = a[4], regs->r9 = a[5];
}

#elif defined(__aarch64__)

static const uint8_t call_instruction[] = {0x01, 0x00, 0x00, 0xd4};

/* A system call instruction that every process has. If we are killed here, the thread runs on from there, so this is
 * only for processes that have not run yet. */
static int prepare(struct process *process, pid_t thread, const registers *before, uint64_t mask, registers *during,
                   struct error *error) {
  static uint8_t page[65536];
  uint64_t start, end;
  (void)thread, (void)mask;
  if (!process->code) {
    if (!find_vdso(process->pid, &start, &end) || end - start > sizeof page)
      return error_refuse(error, 0, "pid %d has no vdso of up to %zu bytes", process->pid, sizeof page);
    if (read_memory(process->pid, start, page, end - start, error)) return -1;
    const uint8_t *found = memmem(page, end - start, call_instruction, sizeof call_instruction);
    if (!found) return error_refuse(error, 0, "the vdso of pid %d has no system call instruction", process->pid);
    process->code = start + (uint64_t)(found - page);
  }
  *during = *before;
  during->pc = process->code;
  return 0;
}

static void set_call(registers *regs, long number, const uint64_t a[6]) {
  regs->regs[8] = (uint64_t)number;
  memcpy(regs->regs, a, 6 * sizeof *a);
}

#endif

static int make_call(pid_t thread, const registers *during, long *result, struct error *error) {
  registers after;
  if (set_registers(thread, during, error)) return -1;
  if (set_mask(thread, ~0ULL, error) || pass_call(thread, error) || get_registers(thread, &after, error)) return -1;
  *result = RESULT(&after);
  return 0;
}

/* The order matters: at every moment the thread would continue correctly without us. */
int inject_syscall(struct group *group, const struct thread *thread, long number, const uint64_t arguments[6],
                   long *result, struct error *error) {
  struct process *process = &group->processes[thread->process];
  registers before, during;
  struct sequence sequence;
  uint64_t mask;
  if (!thread->is_stopped) return error_refuse(error, 0, "thread %d is not stopped", thread->id);
  if (get_registers(thread->id, &before, error) || get_mask(thread->id, &mask, error)) return -1;
  if (prepare(process, thread->id, &before, mask, &during, error)) return -1;
  note_sequence(process, thread->id, &sequence);
  set_call(&during, number, arguments);
  int made = make_call(thread->id, &during, result, error);
  struct error later;
  if (set_mask(thread->id, mask, &later) || put_sequence_back(process, &sequence, &later) ||
      set_registers(thread->id, &before, &later)) {
    *error = later;
    return -1;
  }
  return made;
}
