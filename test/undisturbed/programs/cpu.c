/* Registers of the processor, kept over system calls and over none. */
#define _GNU_SOURCE
#include "program.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fenv.h>
#include <immintrin.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Runs it for 50 ms at a time, most of which is spent without a system call; then rests, so that others get
 * the processor, too. */
static void spin(void (*calculate)(void)) {
  ready();
  while (!is_over() && !has_noticed()) {
    for (double end = now() + 0.05; now() < end;) calculate();
    rest(0.2);
  }
}

static void count_with_general(void) {
  uint64_t b = 0x1111111111111111, r12 = 0x2222222222222222, r13 = 0x3333333333333333, r14 = 0x4444444444444444,
           r8 = 0x5555555555555555, r11 = 0x6666666666666666, count = 3000000;
  __asm__ volatile("mov %5, %%r8; mov %6, %%r11; 1: dec %0; jnz 1b; mov %%r8, %5; mov %%r11, %6"
                   : "+r"(count), "+b"(b), "+r"(r12), "+r"(r13), "+r"(r14), "+m"(r8), "+m"(r11)
                   :
                   : "r8", "r11", "cc");
  EXPECT(b == 0x1111111111111111 && r12 == 0x2222222222222222 && r13 == 0x3333333333333333);
  EXPECT(r14 == 0x4444444444444444 && r8 == 0x5555555555555555 && r11 == 0x6666666666666666);
}
static void general_registers(void) { spin(count_with_general); }

static unsigned char in[128], out[128];
static void number_bytes(void) {
  for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i * 7 + 1);
}

static void count_with_vectors(void) {
  uint64_t count = 3000000;
  memset(out, 0, sizeof out);
  __asm__ volatile(
      "movdqu 0(%1),%%xmm0; movdqu 16(%1),%%xmm1; movdqu 32(%1),%%xmm7; movdqu 48(%1),%%xmm8; movdqu 64(%1),%%xmm15;"
      "1: dec %0; jnz 1b;"
      "movdqu %%xmm0,0(%2); movdqu %%xmm1,16(%2); movdqu %%xmm7,32(%2); movdqu %%xmm8,48(%2); movdqu %%xmm15,64(%2)"
      : "+r"(count)
      : "r"(in), "r"(out)
      : "xmm0", "xmm1", "xmm7", "xmm8", "xmm15", "memory", "cc");
  EXPECT(memcmp(in, out, 80) == 0);
}
static void vector_registers(void) {
  number_bytes();
  spin(count_with_vectors);
}

__attribute__((target("avx"))) static void count_with_wide(void) {
  uint64_t count = 3000000;
  __asm__ volatile(
      "vmovdqu 0(%1),%%ymm3; vmovdqu 32(%1),%%ymm9; vmovdqu 64(%1),%%ymm14; 1: dec %0; jnz 1b;"
      "vmovdqu %%ymm3,0(%2); vmovdqu %%ymm9,32(%2); vmovdqu %%ymm14,64(%2); vzeroupper"
      : "+r"(count)
      : "r"(in), "r"(out)
      : "xmm3", "xmm9", "xmm14", "memory", "cc");
  EXPECT(memcmp(in, out, 96) == 0);
}
__attribute__((target("avx512f"))) static void count_with_widest(void) {
  uint64_t count = 3000000;
  __asm__ volatile(
      "vmovdqu64 0(%1),%%zmm3; vmovdqu64 64(%1),%%zmm20; 1: dec %0; jnz 1b;"
      "vmovdqu64 %%zmm3,0(%2); vmovdqu64 %%zmm20,64(%2); vzeroupper"
      : "+r"(count)
      : "r"(in), "r"(out)
      : "xmm3", "xmm20", "memory", "cc");
  EXPECT(memcmp(in, out, 128) == 0);
}
static void count_with_all(void) {
  memset(out, 0, sizeof out);
  if (__builtin_cpu_supports("avx")) count_with_wide();
  if (__builtin_cpu_supports("avx512f")) count_with_widest();
}
static void wide_registers(void) {
  number_bytes();
  spin(count_with_all);
}

/* Rounding, exceptions that were raised, and values on the stack of the x87. */
static void floating_point(void) {
  fesetround(FE_DOWNWARD);
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_INEXACT);
  unsigned mxcsr = _mm_getcsr();
  unsigned short control, is;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  hold();
  same("rounding", FE_DOWNWARD, fegetround());
  same("MXCSR", mxcsr, _mm_getcsr());
  __asm__ volatile("fnstcw %0" : "=m"(is));
  same("x87 control word", control, is);
  same("exceptions", FE_INEXACT, fetestexcept(FE_ALL_EXCEPT));
}

/* A wait in the middle of a calculation: the registers that a system call keeps. */
static void registers_over_a_wait(void) {
  double kept = 0.1;
  long double wide = 0.1L;
  ready();
  while (!is_over() && !has_noticed()) {
    double a = kept, b = a * 3, c = b / 7;
    long double d = wide * 3;
    rest(0.05);
    EXPECT(b == a * 3 && c == b / 7 && d == wide * 3);
  }
}

static void segment_bases(void) {
  unsigned long fs, gs, is;
  static long word = 0x1234;
  MUST(syscall(SYS_arch_prctl, ARCH_SET_GS, &word));
  MUST(syscall(SYS_arch_prctl, ARCH_GET_FS, &fs));
  MUST(syscall(SYS_arch_prctl, ARCH_GET_GS, &gs));
  hold();
  MUST(syscall(SYS_arch_prctl, ARCH_GET_FS, &is));
  same("FS", (long)fs, (long)is);
  MUST(syscall(SYS_arch_prctl, ARCH_GET_GS, &is));
  same("GS", (long)gs, (long)is);
  long value;
  __asm__("mov %%gs:0, %0" : "=r"(value));
  same("what lies there", 0x1234, value);
}

static __thread int own_error;
static void error_number(void) {
  errno = ENOTNAM;
  own_error = 77;
  hold();
  same("errno", ENOTNAM, errno);
  same("a variable of the thread", 77, own_error);
}

/* The counter of cycles and the clock without a system call, which lies in the vDSO. */
static void cycle_counter(void) {
  uint64_t before = __rdtsc();
  struct timespec last = {0}, time;
  ready();
  while (!is_over() && !has_noticed()) {
    for (int i = 0; i < 2000; i++) {
      uint64_t next = __rdtsc();
      if (next < before) notice("the counter of cycles went back");
      before = next;
      clock_gettime(CLOCK_MONOTONIC, &time);
      if (time.tv_sec < last.tv_sec || (time.tv_sec == last.tv_sec && time.tv_nsec < last.tv_nsec))
        notice("the clock went back");
      last = time;
    }
    rest(0.02);
  }
}

/* The processor that the C library reads from its registered area is the one the kernel names. */
static void restartable_sequences(void) {
  cpu_set_t one;
  ready();
  for (int turn = 0; !is_over() && !has_noticed(); turn++) {
    CPU_ZERO(&one);
    CPU_SET(turn % 2, &one);
    if (sched_setaffinity(0, sizeof one, &one) < 0) continue;
    unsigned cpu;
    MUST(syscall(SYS_getcpu, &cpu, NULL, NULL));
    same("processor", cpu, sched_getcpu());
    rest(0.01);
  }
}

const struct program cpu_programs[] = {
    {"general-registers", general_registers},
    {"vector-registers", vector_registers},
    {"wide-registers", wide_registers},
    {"floating-point", floating_point},
    {"registers-over-a-wait", registers_over_a_wait},
    {"segment-bases", segment_bases},
    {"error-number", error_number},
    {"cycle-counter", cycle_counter},
    {"restartable-sequences", restartable_sequences},
    {0},
};
