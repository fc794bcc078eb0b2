/* Pages that must stay as they are. The stack of the thread that makes calls for us has what it continues with if we
 * are killed. And the kernel writes on which CPU a thread runs into its restartable sequences area (rseq). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/ptrace.h>

#include "remap.h"
#include "report.h"

#define ABOVE_STACK 64   /* bytes at the stack pointer that are in use, for sure */
#define BELOW_STACK 1024 /* more than red zone and frame take, see stub.h */

static void add_spots(struct spots *spots, uint64_t start, uint64_t end) {
  for (uint64_t page = start & ~(uint64_t)(PAGE_BYTES - 1); page < end; page += PAGE_BYTES) {
    spots->pages = require_memory(reallocarray(spots->pages, spots->count + 1, sizeof page));
    spots->pages[spots->count++] = page;
  }
}

static void add_sequence(struct spots *spots, pid_t thread) {
  struct __ptrace_rseq_configuration found;
  if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread, sizeof found, &found) != sizeof found) return;
  uint64_t start = found.rseq_abi_pointer;
  if (start) add_spots(spots, start, start + found.rseq_abi_size);
}

static int by_page(const void *a, const void *b) {
  uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
  return (first > second) - (first < second);
}

int find_spots(const struct inside *inside, struct spots *spots, struct error *error) {
  const struct process *process = inside->process;
  registers regs;
  *spots = (struct spots){0};
  if (get_registers(inside->thread->id, &regs, error)) return -1;
  add_spots(spots, STACK(&regs) - BELOW_STACK, STACK(&regs) + ABOVE_STACK);
  for (size_t i = 0; i < process->count; i++) add_sequence(spots, inside->group->threads[process->first + i].id);
  qsort(spots->pages, spots->count, sizeof *spots->pages, by_page);
  return 0;
}

static uint64_t first_spot(const struct spots *spots, uint64_t start) {
  for (size_t i = 0; i < spots->count; i++)
    if (spots->pages[i] >= start) return spots->pages[i];
  return UINT64_MAX;
}

bool next_clear(const struct spots *spots, uint64_t *start, uint64_t end, uint64_t *stop, uint64_t *next) {
  uint64_t spot = first_spot(spots, *start);
  for (; spot == *start; spot = first_spot(spots, *start)) *start += PAGE_BYTES;
  if (*start >= end) return false;
  *stop = *next = spot < end ? spot : end;
  return true;
}
