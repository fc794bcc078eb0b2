/* Code of ours in a process, in the zero bytes at the end of the page that the kernel maps into it. A thread makes a
 * call there and then continues where it was, with the registers that it finds on its stack. */
#pragma once

#include <poll.h>

#include "stopped.h"

/* Address of the code if INSTRUCTION lies in it, else 0. */
uint64_t code_around(pid_t pid, uint64_t instruction);

#if defined(__x86_64__)

/* What code at WAIT gives back, from the stack pointer upwards. */
struct wait_frame {
  uint64_t rdi, rsi, rdx, r10, r8, r9, rip;
  int64_t span[2]; /* a timespec for the call */
};

/* What code at LIMIT gives back. It waits with ppoll, and then has the program make its own call, or tells it that the
 * time is over. */
struct limit_frame {
  uint64_t rdi, rsi, rdx, r10, r8, r9;
  uint64_t number, call; /* of the program's call, and where it makes it */
  uint64_t over, rip;    /* the result when the time is over, and where the program continues */
  int64_t span[2];
  struct pollfd poll;
};

/* What code at SUM gives back. The result of its call is added to what was DONE before. */
struct sum_frame {
  uint64_t rdi, rsi, rdx, r10, r8, r9;
  uint64_t next; /* RETURN, which goes BACK and over the red zone */
  uint64_t done, unused;
  uint8_t room[128]; /* for what the call's arguments point at */
  uint64_t back;     /* where the program continues */
};

/* What code at INJECT gives back. */
struct inject_frame {
  uint64_t mask, rax, rcx, r11, rdi, rsi, rdx, r10, r8, r9, flags, rip;
};

/* Offsets of the entries. Each begins with the instruction that makes the call, of CALL_LENGTH bytes. */
enum { CALL_LENGTH = 2, INJECT = 0, RETURN = 40, WAIT = 48, LIMIT = 80, SUM = 132, CODE_ROOM = 160 };

/* Address of the code in PROCESS, of which this thread is stopped. 0: there is no room for it, or the process has
 * another page than this one. */
uint64_t place_code(struct process *process, pid_t stopped);
/* Whether INSTRUCTION may lie in it: to find out for sure takes longer. */
static inline bool may_be_code(uint64_t instruction) { return (instruction & 4095) >= 4096 - CODE_ROOM; }

#endif
