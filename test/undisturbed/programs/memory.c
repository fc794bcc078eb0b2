/* Memory: every byte, how it is mapped, and what was said about it. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL

static unsigned char *area(size_t size, int flags) {
  return MUST(mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
}

/* Written by four threads all the time, each page with its number and the turn of its last writing. */
#define PAGES 256
#define WRITERS 4
static uint64_t (*pages)[PAGE / 8];
static uint64_t model[PAGES];
static volatile bool stop;
static void *writer(void *number) {
  for (uint64_t turn = 1; !stop; turn++) {
    for (size_t page = (size_t)number; page < PAGES && !stop; page += WRITERS) {
      if (pages[page][0] != (model[page] ^ page) || pages[page][PAGE / 8 - 1] != (model[page] ^ page))
        notice("page %zu holds another turn", page);
      model[page] = turn;
      for (size_t i = 0; i < PAGE / 8; i++) pages[page][i] = turn ^ page;
      rest(0.001);
    }
  }
  return NULL;
}
static void written_pages(void) {
  pthread_t threads[WRITERS];
  pages = (void *)area(PAGES * PAGE, MAP_PRIVATE);
  for (size_t page = 0; page < PAGES; page++)
    for (size_t i = 0; i < PAGE / 8; i++) pages[page][i] = page;
  for (long i = 0; i < WRITERS; i++) pthread_create(&threads[i], NULL, writer, (void *)i);
  hold();
  stop = true;
  for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
  for (size_t page = 0; page < PAGES; page++)
    for (size_t i = 0; i < PAGE / 8; i++)
      if (pages[page][i] != (model[page] ^ page)) {
        notice("word %zu of page %zu is another", i, page);
        break;
      }
}

/* Pages that come, go, move and change their protection between the snapshots. */
static void moving_areas(void) {
  ready();
  for (unsigned turn = 1; !is_over() && !has_noticed(); turn++) {
    size_t size = (turn % 7 + 2) * PAGE;
    unsigned char *one = area(size, MAP_PRIVATE);
    memset(one, (int)(turn % 200), size);
    unsigned char *two = MUST(mremap(one, size, size * 3, MREMAP_MAYMOVE));
    rest(0.01);
    EXPECT(two[0] == turn % 200 && two[size - 1] == turn % 200 && two[size] == 0);
    MUST(madvise(two, PAGE, MADV_DONTNEED));
    MUST(mprotect(two + PAGE, PAGE, PROT_READ));
    rest(0.01);
    EXPECT(two[0] == 0 && two[PAGE] == turn % 200);
    MUST(munmap(two, size * 3));
  }
}

/* Untouched memory stays untouched: nobody made pages of it. */
static void untouched(void) {
  unsigned char *memory = area(64 << 20, MAP_PRIVATE | MAP_NORESERVE), seen[1];
  memory[0] = 1;
  char *was = line_of(slurp("/proc/self/status"), "VmRSS:");
  hold();
  MUST(mincore(memory + (32 << 20), PAGE, seen));
  long before = atol(was + 6), after = atol(line_of(slurp("/proc/self/status"), "VmRSS:") + 6);
  if (after > before + 4096) notice("resident memory grew from %ld to %ld kB", before, after);
  same("untouched", 0, memory[40 << 20]);
}

static void locked(void) {
  unsigned char *memory = area(16 * PAGE, MAP_PRIVATE);
  MUST(mlock(memory, 16 * PAGE));
  char *was = line_of(slurp("/proc/self/status"), "VmLck:");
  hold();
  same_text("locked memory", was, line_of(slurp("/proc/self/status"), "VmLck:"));
}

/* Advice that decides what a child gets, what a core file gets, and which pages are huge. */
static char *flags_of(void *address) {
  char key[32];
  snprintf(key, sizeof key, "%lx-", (unsigned long)address);
  char *text = slurp("/proc/self/smaps"), *at = strstr(text, key);
  return at ? without_tracking(line_of(at, "VmFlags:")) : strdup("no such area");
}
static void advice(void) {
  static const int kinds[] = {MADV_DONTFORK,   MADV_WIPEONFORK, MADV_DONTDUMP,
                              MADV_SEQUENTIAL, MADV_HUGEPAGE,   MADV_NOHUGEPAGE};
  unsigned char *areas[6];
  char *was[6];
  for (int i = 0; i < 6; i++) {
    /* Apart, so that they stay areas of their own. */
    areas[i] = area(4 << 20, MAP_PRIVATE);
    MUST(mprotect(areas[i] + (4 << 20) - PAGE, PAGE, PROT_NONE));
    memset(areas[i], i + 1, 1 << 16);
    MUST(madvise(areas[i], 2 << 20, kinds[i]));
    was[i] = flags_of(areas[i]);
  }
  hold();
  for (int i = 0; i < 6; i++) {
    same_text("advice", was[i], flags_of(areas[i]));
    same("contents", i + 1, areas[i][100]);
  }
}

static void unreadable(void) {
  unsigned char *memory = area(4 * PAGE, MAP_PRIVATE);
  memset(memory, 9, 4 * PAGE);
  MUST(mprotect(memory, 4 * PAGE, PROT_NONE));
  hold();
  MUST(mprotect(memory, 4 * PAGE, PROT_READ));
  for (size_t i = 0; i < 4 * PAGE; i += PAGE) same("contents", 9, memory[i]);
}

static unsigned char *shared;
static int counts(void) {
  for (;;) {
    __atomic_fetch_add((long *)shared, 1, __ATOMIC_SEQ_CST);
    rest(0.005);
  }
  return 0;
}
static void shared_with_child(void) {
  shared = area(PAGE, MAP_SHARED);
  pid_t child = start(counts);
  long before = 0;
  ready();
  while (!is_over() && !has_noticed()) {
    double begin = now(), stops = stood_still();
    while (*(volatile long *)shared == before && now() < begin + 5 + stood_still() - stops) rest(0.005);
    /* After a long stop, neither the watch nor the child may have run yet. */
    if (*(volatile long *)shared == before) rest(2);
    if (*(volatile long *)shared <= before) notice("the child counts no more: %ld", before);
    before = *(volatile long *)shared;
  }
  kill(child, SIGKILL);
}

/* Pages that a child still shares with its parent, copied on the first write. */
static unsigned char *inherited;
static int keeps_inherited(void) {
  until_over();
  for (size_t i = 0; i < 64; i++)
    if (inherited[i * PAGE] != 3) return 1;
  return 0;
}
static void copied_on_write(void) {
  inherited = area(64 * PAGE, MAP_PRIVATE);
  memset(inherited, 3, 64 * PAGE);
  pid_t child = start(keeps_inherited);
  ready();
  for (unsigned turn = 0; !is_over(); turn++) {
    inherited[turn % 64 * PAGE] = (unsigned char)turn;
    rest(0.01);
  }
  same("what the child found", 0, end_of(child));
}

/* The heap of the C library while it works. */
static void heap(void) {
  enum { BLOCKS = 400 };
  static unsigned char *blocks[BLOCKS];
  static size_t sizes[BLOCKS];
  unsigned seed = 7;
  ready();
  for (unsigned turn = 0; !is_over() && !has_noticed(); turn++) {
    for (int n = 0; n < 50; n++) {
      int i = rand_r(&seed) % BLOCKS;
      for (size_t at = 0; blocks[i] && at < sizes[i]; at += 61)
        if (blocks[i][at] != (unsigned char)(i + at)) notice("block %d changed", i);
      free(blocks[i]);
      sizes[i] = (size_t)(rand_r(&seed) % 30000);
      blocks[i] = malloc(sizes[i] + 1);
      for (size_t at = 0; at < sizes[i]; at++) blocks[i][at] = (unsigned char)(i + at);
    }
    rest(0.01);
  }
}

/* A stack that grows while snapshots are taken. */
static int dive(int depth) {
  volatile char frame[8192];
  frame[0] = (char)depth;
  frame[8191] = (char)~depth;
  if (depth % 16 == 0) rest(0.005);
  if (depth < 300 && dive(depth + 1) != depth + 1) return -1;
  return frame[0] == (char)depth && frame[8191] == (char)~depth ? depth : -1;
}
static void growing_stack(void) {
  ready();
  while (!is_over() && !has_noticed()) same("depth", 0, dive(0));
}

const struct program memory_programs[] = {
    {"written-pages", written_pages},
    {"moving-areas", moving_areas},
    {"untouched-memory", untouched},
    {"locked-memory", locked},
    {"memory-advice", advice},
    {"unreadable-memory", unreadable},
    {"shared-with-child", shared_with_child},
    {"copied-on-write", copied_on_write},
    {"heap", heap},
    {"growing-stack", growing_stack},
    {0},
};
