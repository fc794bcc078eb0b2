/* Threads that the freezer had not reached when the others were looked at. The CPUs were busy, and the cell did not
 * freeze as a whole in time. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "waits.h"

#if defined(__x86_64__)

/* The thread is stopped, so its registers tell what the kernel does not tell of one that runs. It leaves a call, or
 * comes from elsewhere: then the number is negative. A call that the kernel restarts needs no help, because nothing
 * was dumped. */
static bool is_cut_short(const registers *regs) {
  return (long)regs->orig_rax >= 0 && (RESULT(regs) == -EINTR || RESULT(regs) > 0);
}

bool find_late(pid_t process, pid_t thread, const struct waits *before, struct wait *wait) {
  registers regs;
  struct error ignored;
  if (get_registers(thread, &regs, &ignored) || !is_cut_short(&regs)) return false;
  *wait = (struct wait){.thread = thread, .number = (long)regs.orig_rax, .stack = regs.rsp, .instruction = regs.rip};
  read_arguments(&regs, wait->arguments);
  wait->call = call_of(wait->number, wait->arguments);
  if (wait->call.end == KEPT || !read_status(process, thread, &wait->status)) return false;
  const struct wait *earlier = find_wait(before, thread);
  if (earlier && has_slept_on(earlier, wait)) wait->asleep = earlier->asleep;
  wait->left = left_of(process, wait, monotonic_now());
  return true;
}

#else

bool find_late(pid_t process, pid_t thread, const struct waits *before, struct wait *wait) {
  (void)process, (void)thread, (void)before, (void)wait;
  return false;
}

#endif
