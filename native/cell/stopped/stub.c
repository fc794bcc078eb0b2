#define _GNU_SOURCE
#include "stub.h"

#if defined(__x86_64__)

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "shared/owned.h"

#define PAGE 4096
#define MOST_PAGES 16

/* No instruction after the last `pop` reads memory below the stack pointer, which a signal handler may overwrite. The
 * offsets are those in stub.h. */
__asm__(
    ".pushsection .rodata\n"
    "code_in_vdso:\n"
    "  syscall\n" /* INJECT: the tracer usually takes over after it */
    "  mov $14, %eax\n"
    "  mov $2, %edi\n"
    "  mov %rsp, %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $8, %r10d\n"
    "  syscall\n"  /* rt_sigprocmask SIG_SETMASK */
    "  pop %rdi\n" /* the mask */
    "  pop %rax\n"
    "  pop %rcx\n"
    "  pop %r11\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %r10\n"
    "  pop %r8\n"
    "  pop %r9\n"
    "  popfq\n"
    "  .org code_in_vdso + 40, 0\n"
    "  ret $128\n" /* RETURN: over the red zone */
    "  .org code_in_vdso + 48, 0\n"
    "  syscall\n" /* WAIT */
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %r10\n"
    "  pop %r8\n"
    "  pop %r9\n"
    "  pop %rcx\n"            /* a call leaves the address after it there anyway */
    "  lea 144(%rsp), %rsp\n" /* over the span and the red zone; unlike `add`, it keeps the flags */
    "  jmp *%rcx\n"
    "  .org code_in_vdso + 80, 0\n"
    "  syscall\n" /* LIMIT: ppoll */
    "  pushfq\n"
    "  test %eax, %eax\n"
    "  js 1f\n" /* a signal: the same error for the program */
    "  jz 2f\n"
    "  mov 56(%rsp), %rax\n" /* number */
    "  mov 64(%rsp), %rcx\n" /* call */
    "  jmp 3f\n"
    "2: mov 72(%rsp), %rax\n" /* over */
    "1: mov 80(%rsp), %rcx\n" /* rip */
    "3: popfq\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %r10\n"
    "  pop %r8\n"
    "  pop %r9\n"
    "  lea 184(%rsp), %rsp\n" /* over the rest of the frame and the red zone */
    "  jmp *%rcx\n"
    "  .org code_in_vdso + 132, 0\n"
    "  syscall\n" /* SUM */
    "  pushfq\n"
    "  test %rax, %rax\n"
    "  jns 4f\n"
    "  xor %eax, %eax\n"      /* whatever ended the rest, the part before it is done */
    "4: add 64(%rsp), %rax\n" /* done */
    "  popfq\n"
    "  jmp code_in_vdso + 50\n" /* like WAIT */
    "  .org code_in_vdso + 160, 0\n"
    ".popsection\n");
extern const uint8_t code[CODE_ROOM] __asm__("code_in_vdso");

/* The page as this process has it: the same for every 64-bit program. */
static size_t own_vdso(const uint8_t **bytes) {
  static uint64_t start, end;
  if (!start && !find_vdso(getpid(), &start, &end)) start = end = 1;
  *bytes = (const uint8_t *)(uintptr_t)start;
  size_t size = end - start;
  return size <= MOST_PAGES * PAGE && size > CODE_ROOM ? size : 0;
}

/* Where the kernel put the page. Cheaper than to search all mappings; whether it is still there is checked. */
static uint64_t vdso_of(pid_t pid) {
  char path[64];
  uint64_t pairs[128];
  snprintf(path, sizeof path, "/proc/%d/auxv", pid);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, pairs, sizeof pairs);
  for (size_t i = 0; length > 0 && i + 1 < (size_t)length / sizeof *pairs; i += 2)
    if (pairs[i] == AT_SYSINFO_EHDR) return pairs[i + 1];
  return 0;
}

/* A process that was made by an earlier version has only a part of the code, and zeros for the rest. */
static bool is_room(const uint8_t *present) {
  for (size_t i = 0; i < CODE_ROOM; i++)
    if (present[i] && present[i] != code[i]) return false;
  return true;
}

/* False if other bytes of the program are there: they stay. */
static bool write_code(pid_t stopped, uint64_t at, const uint8_t *present) {
  if (!memcmp(present, code, CODE_ROOM)) return true;
  if (!is_room(present)) return false;
  for (size_t i = 0; i < CODE_ROOM; i += sizeof(long)) {
    long word;
    memcpy(&word, code + i, sizeof word);
    /* The kernel lets only a tracer write there. The page becomes the process's own. */
    if (ptrace(PTRACE_POKEDATA, stopped, at + i, word)) return false;
  }
  return true;
}

static uint64_t find_place(pid_t pid, pid_t stopped) {
  static uint8_t page[MOST_PAGES * PAGE];
  const uint8_t *own;
  struct error ignored;
  size_t size = own_vdso(&own), before = size - CODE_ROOM;
  uint64_t start = size ? vdso_of(pid) : 0;
  if (!start || start % PAGE || read_memory(pid, start, page, size, &ignored)) return 0;
  if (memcmp(page, own, before)) return 0;
  return write_code(stopped, start + before, page + before) ? start + before : 0;
}

uint64_t place_code(struct process *process, pid_t stopped) {
  if (!process->code && !process->has_no_code) {
    process->code = find_place(process->pid, stopped);
    process->has_no_code = !process->code;
  }
  return process->code;
}

uint64_t code_around(pid_t pid, uint64_t instruction) {
  uint8_t present[CODE_ROOM];
  struct error ignored;
  uint64_t at = (instruction | (PAGE - 1)) + 1 - CODE_ROOM;
  if (!may_be_code(instruction) || read_memory(pid, at, present, CODE_ROOM, &ignored)) return 0;
  return memcmp(present, code, SUM) || !is_room(present) ? 0 : at;
}

#else

uint64_t code_around(pid_t pid, uint64_t instruction) {
  (void)pid, (void)instruction;
  return 0;
}

#endif
