/* Calls that were ended, made again. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "stub.h"
#include "waits.h"

#if defined(__x86_64__)

static const size_t argument_offsets[ARGUMENTS] = {offsetof(registers, rdi), offsetof(registers, rsi),
                                                   offsetof(registers, rdx), offsetof(registers, r10),
                                                   offsetof(registers, r8),  offsetof(registers, r9)};

static unsigned long long *argument_in(registers *regs, int index) {
  return (unsigned long long *)((char *)regs + argument_offsets[index]);
}

void read_arguments(const registers *regs, uint64_t arguments[ARGUMENTS]) {
  for (int i = 0; i < ARGUMENTS; i++)
    memcpy(&arguments[i], (const char *)regs + argument_offsets[i], sizeof *arguments);
}

static bool has_arguments(const registers *regs, const uint64_t arguments[ARGUMENTS]) {
  uint64_t found[ARGUMENTS];
  read_arguments(regs, found);
  return !memcmp(found, arguments, sizeof found);
}

/* Whether the call has returned to the program, or is about to, without anything but an interruption. */
static bool was_ended(const registers *regs, const struct wait *wait) {
  if (regs->rip != wait->instruction) return false;
  return RESULT(regs) == -EINTR || (RESULT(regs) == RESTART_BLOCK && (long)regs->orig_rax == wait->number);
}

/* As the kernel leaves it, before it decides. */
static bool is_interrupted(const registers *regs, const struct wait *wait) {
  return regs->rip == wait->instruction && RESULT(regs) == RESTART_NO_HAND && (long)regs->orig_rax == wait->number;
}

/* As CRIU leaves it: even after a signal that should end it. */
static bool will_be_restarted(const registers *regs, const struct wait *wait) {
  return regs->rip == wait->instruction - CALL_LENGTH && RESULT(regs) == wait->number;
}

/* As if the call that ends at INSTRUCTION had just been interrupted. On its way out, the kernel makes it again, or
 * returns EINTR if the program handles a signal first. So it need not be known here whether there is one. */
static void interrupt_call(registers *regs, long number, uint64_t instruction, long restart) {
  regs->rip = instruction;
  regs->rax = (uint64_t)restart;
  regs->orig_rax = (uint64_t)number;
}

/* Rounds up: a program may check that it waited long enough. */
static uint64_t in_milliseconds(int64_t left) { return (uint64_t)((left + 999999) / 1000000); }

static void set_limit(registers *regs, const struct wait *wait, int64_t left, uint64_t span) {
  *argument_in(regs, wait->call.argument) = wait->call.limit == MILLISECONDS ? in_milliseconds(left) : span;
}

void run_code(registers *regs, uint64_t code, long number, uint64_t stack) {
  interrupt_call(regs, number, code + CALL_LENGTH, RESTART_NO_HAND);
  regs->rsp = stack;
}

int require_code(struct process *process, pid_t thread, uint64_t *code, struct error *error) {
  *code = place_code(process, thread);
  return *code ? 0 : error_refuse(error, 0, "pid %d has no room for code in its vdso", process->pid);
}

/* The same call with another limit. It cannot be made where the program makes it, because the program may rely on its
 * registers afterwards. Until its registers are set, nothing has changed for the thread. */
static int make_shorter_call(struct process *process, pid_t thread, registers *regs, const struct wait *wait,
                             int64_t left, struct error *error) {
  struct wait_frame frame = {regs->rdi, regs->rsi, regs->rdx, regs->r10,
                             regs->r8,  regs->r9,  regs->rip, {left / 1000000000, left % 1000000000}};
  uint64_t at = regs->rsp - RED_ZONE - sizeof frame, code = code_around(process->pid, regs->rip);
  uint64_t span = offsetof(struct wait_frame, span);
  if (code) { /* it was shortened before: only the limit changes */
    at = regs->rsp;
    if (write_memory(process->pid, at + span, frame.span, sizeof frame.span, error)) return -1;
  } else {
    if (require_code(process, thread, &code, error)) return -1;
    if (write_memory(process->pid, at, &frame, sizeof frame, error)) return -1;
  }
  set_limit(regs, wait, left, at + span);
  run_code(regs, code + WAIT, wait->number, at);
  return set_registers(thread, regs, error);
}

/* The limit belongs to the socket, which others use, too. So the thread first waits for the socket that long. */
static int wait_for_socket(struct process *process, pid_t thread, registers *regs, const struct wait *wait,
                           int64_t left, struct error *error) {
  bool receives = wait->call.limit == RECEIVING;
  struct limit_frame frame = {
      .rdi = regs->rdi,
      .rsi = regs->rsi,
      .rdx = regs->rdx,
      .r10 = regs->r10,
      .r8 = regs->r8,
      .r9 = regs->r9,
      .number = (uint64_t)wait->number,
      .call = wait->instruction - CALL_LENGTH,
      .over = (uint64_t)(wait->number == SYS_connect ? -EINPROGRESS : -EAGAIN),
      .rip = wait->instruction,
      .span = {left / 1000000000, left % 1000000000},
      .poll = {.fd = (int)wait->arguments[0], .events = receives ? POLLIN : POLLOUT},
  };
  uint64_t code, at = regs->rsp - RED_ZONE - sizeof frame;
  if (require_code(process, thread, &code, error)) return -1;
  if (write_memory(process->pid, at, &frame, sizeof frame, error)) return -1;
  regs->rdi = at + offsetof(struct limit_frame, poll);
  regs->rsi = 1;
  regs->rdx = at + offsetof(struct limit_frame, span);
  regs->r10 = 0; /* no signal mask */
  run_code(regs, code + LIMIT, SYS_ppoll, at);
  return set_registers(thread, regs, error);
}

static void make_call_again(struct process *process, pid_t thread, registers *regs, const struct wait *wait,
                            uint64_t passed) {
  struct error ignored;
  if (wait->left < 0) {
    interrupt_call(regs, wait->number, wait->instruction, RESTART_NO_HAND);
    set_registers(thread, regs, &ignored);
    return;
  }
  int64_t left = wait->left > (int64_t)passed ? wait->left - (int64_t)passed : 0;
  bool is_socket = wait->call.limit == RECEIVING || wait->call.limit == SENDING;
  (is_socket ? wait_for_socket : make_shorter_call)(process, thread, regs, wait, left, &ignored);
}

/* Whether a handler can ask the kernel to restart the call. */
static bool obeys_handler(const struct wait *wait) {
  return wait->call.end == RESTARTED || wait->call.limit == RECEIVING || wait->call.limit == SENDING ||
         wait->number == SYS_futex;
}

static bool keeps_time_left(const struct wait *wait) {
  return wait->call.limit == SPAN_LEFT || wait->call.limit == TIME_LEFT;
}

/* If it cannot be done, the program sees EINTR, which it must expect of every such call. */
void put_right(struct group *group, const struct thread *thread, const struct wait *wait, uint64_t passed) {
  struct process *process = &group->processes[thread->process];
  struct error ignored;
  registers regs;
  if (!thread->is_stopped || get_registers(thread->id, &regs, &ignored)) return;
  if (regs.rsp != wait->stack || !has_arguments(&regs, wait->arguments)) return;
  if (continue_rest(process, thread->id, &regs, wait)) return;
  if (wait->call.end == ENDED && was_ended(&regs, wait)) make_call_again(process, thread->id, &regs, wait, passed);
  bool restarts = will_be_restarted(&regs, wait);
  if (keeps_time_left(wait) && (restarts || is_interrupted(&regs, wait))) shorten_left(process->pid, wait, passed);
  if (!restarts) return;
  interrupt_call(&regs, wait->number, wait->instruction, obeys_handler(wait) ? RESTART_SYS : RESTART_NO_HAND);
  set_registers(thread->id, &regs, &ignored);
}

#else

void put_right(struct group *group, const struct thread *thread, const struct wait *wait, uint64_t passed) {
  (void)group, (void)thread, (void)wait, (void)passed; /* needs code of its own, see stub.c */
}

#endif
