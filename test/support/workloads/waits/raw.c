/* System calls made without a C library, by code that relies on what the kernel promises: all registers but rax, rcx
 * and r11 are kept, and so are the flags and the 128 bytes below the stack pointer. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

#include "kinds.h"

#define WORDS 14 /* rdi rsi rdx r10 r8 r9, rbx rbp r12 r13 r14 r15, rsp, flags */

/* Makes the call with known values in all registers and in the red zone. AFTER gets the values afterwards; the result
 * is that of the call, or -1000 if the red zone changed. */
long call_raw(long number, const uint64_t arguments[6], uint64_t after[WORDS], uint64_t before[2]);
__asm__(
    ".globl call_raw\n"
    "call_raw:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  push %rdx\n" /* after */
    "  push %rcx\n" /* before */
    "  mov %rdi, %rax\n"
    "  mov %rsi, %r11\n"
    "  mov 0(%r11), %rdi\n  mov 8(%r11), %rsi\n  mov 16(%r11), %rdx\n"
    "  mov 24(%r11), %r10\n  mov 32(%r11), %r8\n  mov 40(%r11), %r9\n"
    "  mov $0x1111, %rbx\n  mov $0x2222, %rbp\n  mov $0x3333, %r12\n"
    "  mov $0x4444, %r13\n  mov $0x5555, %r14\n  mov $0x6666, %r15\n"
    "  movq $0x7777, -8(%rsp)\n"
    "  movq $0x8888, -128(%rsp)\n"
    "  mov (%rsp), %rcx\n"
    "  mov %rsp, 0(%rcx)\n"
    "  stc\n"
    "  syscall\n"
    "  setc %cl\n" /* the flag that was set */
    "  movzbq %cl, %rcx\n"
    "  mov 8(%rsp), %r11\n"
    "  mov %rdi, 0(%r11)\n  mov %rsi, 8(%r11)\n  mov %rdx, 16(%r11)\n"
    "  mov %r10, 24(%r11)\n  mov %r8, 32(%r11)\n  mov %r9, 40(%r11)\n"
    "  mov %rbx, 48(%r11)\n  mov %rbp, 56(%r11)\n  mov %r12, 64(%r11)\n"
    "  mov %r13, 72(%r11)\n  mov %r14, 80(%r11)\n  mov %r15, 88(%r11)\n"
    "  mov %rsp, 96(%r11)\n  mov %rcx, 104(%r11)\n"
    "  cmpq $0x7777, -8(%rsp)\n  jne 1f\n"
    "  cmpq $0x8888, -128(%rsp)\n  je 2f\n"
    "1: mov $-1000, %rax\n"
    "2: pop %rcx\n  pop %rdx\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n"
    "  ret\n");

static struct outcome checked(long number, uint64_t arguments[6]) {
  uint64_t after[WORDS], before[2];
  long result = call_raw(number, arguments, after, before);
  const uint64_t kept[] = {0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666, before[0], 1};
  if (memcmp(after, arguments, 6 * sizeof *arguments)) return (struct outcome){-2000, 0};
  if (memcmp(after + 6, kept, sizeof kept)) return (struct outcome){-3000, 0};
  return (struct outcome){result, 0};
}

static struct outcome raw_nanosleep(double seconds) {
  struct timespec span = span_of(seconds), same = span;
  uint64_t arguments[6] = {(uintptr_t)&span, 0, 0xa, 0xb, 0xc, 0xd};
  struct outcome outcome = checked(SYS_nanosleep, arguments);
  return memcmp(&span, &same, sizeof span) ? (struct outcome){-4000, 0} : outcome;
}

static struct outcome raw_poll(double seconds) {
  uint64_t arguments[6] = {0, 0, (uint64_t)(seconds * 1000), 0xb, 0xc, 0xd};
  return checked(SYS_poll, arguments);
}

static struct outcome raw_epoll(double seconds) {
  struct epoll_event event;
  uint64_t arguments[6] = {(uint64_t)epoll_create1(0), (uintptr_t)&event, 1, (uint64_t)(seconds * 1000), 0, 8};
  return checked(SYS_epoll_pwait, arguments);
}

static struct outcome raw_futex(double seconds) {
  uint32_t word = 0;
  struct timespec span = span_of(seconds);
  uint64_t arguments[6] = {(uintptr_t)&word, FUTEX_WAIT, 0, (uintptr_t)&span, 0xc, 0xd};
  return checked(SYS_futex, arguments);
}

const struct kind raw_kinds[] = {
    {"raw-nanosleep", raw_nanosleep, {0, 0}},
    {"raw-poll", raw_poll, {0, 0}},
    {"raw-epoll", raw_epoll, {0, 0}},
    {"raw-futex", raw_futex, {-ETIMEDOUT, 0}},
    {0},
};
