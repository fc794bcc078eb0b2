#include "registers.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define CODE_64_BIT 0x33 /* the code segment of 64-bit programs */

int get_registers(pid_t thread, registers *regs, struct error *error) {
  struct iovec vector = {regs, sizeof *regs};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &vector))
    return error_set(error, errno, "ptrace PTRACE_GETREGSET of thread %d", thread);
  bool is_wide = vector.iov_len == sizeof *regs;
#if defined(__x86_64__)
  is_wide = is_wide && regs->cs == CODE_64_BIT;
#endif
  return is_wide ? 0 : error_refuse(error, 0, "thread %d runs 32-bit code", thread);
}

int set_registers(pid_t thread, const registers *regs, struct error *error) {
  struct iovec vector = {(void *)regs, sizeof *regs};
  if (!ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &vector)) return 0;
  return error_set(error, errno, "ptrace PTRACE_SETREGSET of thread %d", thread);
}
