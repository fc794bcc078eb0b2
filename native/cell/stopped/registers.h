/* The registers of a stopped thread. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "shared/error.h"

#if defined(__x86_64__)
#include <sys/user.h>
typedef struct user_regs_struct registers;
#define STACK(of) ((of)->rsp)
#define RESULT(of) ((long)(of)->rax)
#define RED_ZONE 128 /* bytes below the stack pointer that belong to the code that runs */
#elif defined(__aarch64__)
#include <asm/ptrace.h>
typedef struct user_pt_regs registers;
#define STACK(of) ((of)->sp)
#define RESULT(of) ((long)(of)->regs[0])
#define RED_ZONE 0
#endif

/* Results that only the kernel sees: on its way out it makes the call again, or returns EINTR. */
enum { RESTART_SYS = -512, RESTART_NO_INTR = -513, RESTART_NO_HAND = -514, RESTART_BLOCK = -516 };

/* -1 with an error; also for the registers of a 32-bit program. */
int get_registers(pid_t thread, registers *regs, struct error *error);
int set_registers(pid_t thread, const registers *regs, struct error *error);
