/* Does everything to its memory that the kernel allows, at random, and knows what each page must hold. SIGUSR1 makes
 * it check every page; the result goes to DIRECTORY/PID, as "ok STEP PAGES" or "bad …". Each child that it forks does
 * the same with its own copy, and forks no others. Usage: soak DIRECTORY SEED [NUMBER]
 *
 * With PLAIN it calls neither madvise nor mremap, so that copies may share its memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef PLAIN
#define FILLS_ALL 1 /* only long runs of pages are shared */
#define madvise(at, size, advice) (-1)
#define mremap(...) MAP_FAILED
#else
#define FILLS_ALL 0
#endif

#define PAGE 4096UL
#define SLOTS 40
#define MOST_PAGES 700
#define HUGE_PAGE (2UL << 20)
#define MOST_CHILDREN 3
#define WORDS (PAGE / sizeof(uint64_t))

enum sort { NONE, ANONYMOUS, HUGE, OF_FILE, SHARED, MEMFD, HEAP };

/* A version per page; 0 is what the page holds untouched: zeros, or the file. */
struct slot {
  enum sort sort;
  uint64_t *at;
  size_t pages;
  int prot;
  uint32_t version[MOST_PAGES];
};

static struct slot slots[SLOTS];
static uint64_t seed, step, number; /* NUMBER: of this process among its relatives */
static const char *directory;
static volatile sig_atomic_t is_asked;
static int children;
static uint64_t *file_content; /* the version 0 of a slot of a file */
static int file;

static uint64_t mix(uint64_t x) {
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27, x *= 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

static uint64_t next_random(void) { return mix(seed += 0x9e3779b97f4a7c15ULL); }
static size_t below(size_t most) { return next_random() % most; }

static void report(const char *template, ...) {
  char path[512], draft[520], text[512];
  va_list list;
  va_start(list, template);
  vsnprintf(text, sizeof text, template, list);
  va_end(list);
  snprintf(path, sizeof path, "%s/%d", directory, getpid());
  snprintf(draft, sizeof draft, "%s.new", path);
  int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (write(fd, text, strlen(text)) < 0) abort();
  close(fd);
  rename(draft, path);
}

/* What word K of a page must be. */
static uint64_t word_of(const struct slot *slot, size_t page, size_t k) {
  uint32_t version = slot->version[page];
  if (version) return mix((uint64_t)version << 32 ^ page << 12 ^ k ^ (uint64_t)(slot - slots) << 56);
  return slot->sort == OF_FILE ? file_content[page * WORDS + k] : 0;
}

static void check_page(const struct slot *slot, size_t page) {
  const uint64_t *at = slot->at + page * WORDS;
  for (size_t k = 0; k < WORDS; k++) {
    if (at[k] == word_of(slot, page, k)) continue;
    report("bad: step %lu slot %ld sort %d page %zu of %zu version %u word %zu is %lx\n", step, slot - slots,
           slot->sort, page, slot->pages, slot->version[page], k, at[k]);
    for (;;) pause();
  }
}

static size_t check_all(void) {
  size_t pages = 0;
  for (struct slot *slot = slots; slot < slots + SLOTS; slot++) {
    if (slot->sort == NONE || !(slot->prot & PROT_READ)) continue;
    for (size_t page = 0; page < slot->pages; page++) check_page(slot, page);
    pages += slot->pages;
  }
  return pages;
}

static uint32_t last_version;

/* Written by the program itself, or by the kernel on its behalf. */
static void write_page(struct slot *slot, size_t page) {
  uint64_t bytes[WORDS];
  int ends[2];
  slot->version[page] = ++last_version;
  for (size_t k = 0; k < WORDS; k++) bytes[k] = word_of(slot, page, k);
  char *at = (char *)(slot->at + page * WORDS);
  if (below(4)) {
    memcpy(at, bytes, PAGE);
  } else {
    if (pipe(ends) || write(ends[1], bytes, PAGE) != (ssize_t)PAGE || read(ends[0], at, PAGE) != (ssize_t)PAGE) abort();
    close(ends[0]), close(ends[1]);
  }
}

static void write_some(struct slot *slot) {
  size_t first = below(slot->pages), count = below(3) ? 1 : 1 + below(64);
  for (size_t page = first; page < slot->pages && page < first + count; page++) write_page(slot, page);
}

static void map_slot(struct slot *slot) {
  static const enum sort sorts[] = {ANONYMOUS, ANONYMOUS, ANONYMOUS, HUGE, OF_FILE, SHARED, MEMFD};
  enum sort sort = sorts[below(sizeof sorts / sizeof *sorts)];
  size_t pages = sort == HUGE ? 512 : 1 + below(MOST_PAGES / 2), size = pages * PAGE;
  int flags = sort == OF_FILE ? MAP_PRIVATE : sort == SHARED ? MAP_SHARED | MAP_ANONYMOUS : MAP_PRIVATE | MAP_ANONYMOUS;
  int fd = sort == OF_FILE ? file : -1;
  if (sort == MEMFD) {
    flags = MAP_SHARED;
    fd = memfd_create("soak", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size)) abort();
  }
  char *at = mmap(NULL, sort == HUGE ? size + HUGE_PAGE : size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) abort();
  if (sort == MEMFD) close(fd);
  if (sort == HUGE) {
    char *aligned = (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    if (aligned > at) munmap(at, (size_t)(aligned - at));
    munmap(aligned + size, (size_t)(at + HUGE_PAGE - aligned));
    at = aligned;
    madvise(at, size, MADV_HUGEPAGE);
  }
  memset(slot, 0, sizeof *slot);
  *slot = (struct slot){.sort = sort, .at = (uint64_t *)at, .pages = pages, .prot = PROT_READ | PROT_WRITE};
  write_some(slot);
  if (sort == HUGE || FILLS_ALL)
    for (size_t page = 0; page < pages; page++) write_page(slot, page);
}

static void unmap_slot(struct slot *slot) {
  munmap(slot->at, slot->pages * PAGE);
  slot->sort = NONE;
}

static void forget_pages(struct slot *slot) {
  if (slot->sort == SHARED || slot->sort == MEMFD) return;
  size_t first = below(slot->pages), count = 1 + below(slot->pages - first);
  if (madvise(slot->at + first * WORDS, count * PAGE, MADV_DONTNEED)) return;
  memset(slot->version + first, 0, count * sizeof *slot->version);
  if (!below(2)) check_page(slot, first); /* reading makes a page of zeros, or of the file */
}

static void resize_slot(struct slot *slot) {
  if (slot->sort != ANONYMOUS) return;
  size_t pages = 1 + below(MOST_PAGES - 1);
  void *at = mremap(slot->at, slot->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return; /* parts of it may have become areas of their own */
  slot->at = at;
  for (size_t page = slot->pages; page < pages; page++) slot->version[page] = 0;
  slot->pages = pages;
}

/* To where another slot was, so that its old pages would be seen if anything mixed them up. */
static void move_slot(struct slot *slot, struct slot *other) {
  if (slot->sort != ANONYMOUS || other->sort != ANONYMOUS || slot == other || slot->pages > other->pages) return;
  void *at = other->at;
  munmap(at, other->pages * PAGE);
  other->sort = NONE;
  at = mremap(slot->at, slot->pages * PAGE, slot->pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at);
  if (at != MAP_FAILED) slot->at = at;
}

static void replace_slot(struct slot *slot) {
  if (slot->sort != ANONYMOUS) return;
  if (mmap(slot->at, slot->pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    abort();
  memset(slot->version, 0, slot->pages * sizeof *slot->version);
}

static void protect_slot(struct slot *slot) {
  static const int prots[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE | PROT_EXEC};
  slot->prot = prots[below(FILLS_ALL ? 3 : 4)]; /* executable memory has to be a program that is known */
  if (mprotect(slot->at, slot->pages * PAGE, slot->prot)) abort();
}

static void advise_slot(struct slot *slot) {
  static const int advice[] = {MADV_DONTDUMP, MADV_DODUMP, MADV_NOHUGEPAGE, MADV_HUGEPAGE, MADV_COLD};
  madvise(slot->at, slot->pages * PAGE, advice[below(5)]); /* some do not fit some sorts */
  if (!below(8)) mlock(slot->at, slot->pages * PAGE);
  if (!below(4)) munlock(slot->at, slot->pages * PAGE);
}

/* The stack of a thread that waits for long, and the main one, which grows. */
static uint64_t hold_stack(size_t depth, uint64_t salt) {
  volatile uint64_t frame[WORDS];
  for (size_t k = 0; k < WORDS; k++) frame[k] = mix(salt ^ depth << 16 ^ k);
  uint64_t wrong = depth ? hold_stack(depth - 1, salt) : 0;
  if (!depth && salt & 1) usleep(300000);
  for (size_t k = 0; k < WORDS; k++) wrong += frame[k] != mix(salt ^ depth << 16 ^ k);
  return wrong;
}

static void *use_stack(void *unused) {
  uint64_t round = 0;
  while (!hold_stack(20 + round % 60, round * 2 + 1)) round++;
  report("bad: the stack of a thread, round %lu\n", round);
  for (;;) pause();
  return unused;
}

static uint64_t *heap;
static struct slot *heap_slot;

static void resize_heap(void) {
  size_t pages = 1 + below(MOST_PAGES - 1);
  if (!heap_slot) {
    heap_slot = &slots[0];
    heap = (uint64_t *)(((uintptr_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1));
    *heap_slot = (struct slot){.sort = HEAP, .at = heap, .prot = PROT_READ | PROT_WRITE};
  }
  if (brk((char *)heap + pages * PAGE)) return;
  for (size_t page = heap_slot->pages; page < pages; page++) heap_slot->version[page] = 0;
  heap_slot->pages = pages;
}

/* The C library must not move the end of the heap as well. */
static void leave_heap_alone(void) {
  mallopt(M_TRIM_THRESHOLD, INT32_MAX);
  mallopt(M_MMAP_MAX, 0);
  void *volatile room = malloc(4 << 20); /* volatile, or the compiler leaves both calls out */
  free(room);
}

static void start_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, use_stack, NULL)) abort();
}

static void branch(void) {
  if (number || children == MOST_CHILDREN) return;
  pid_t child = fork();
  if (child < 0) abort();
  children++;
  if (child) return;
  number = (uint64_t)getpid();
  seed = mix(seed ^ number);
  children = 0;
  /* What it shares, others write. */
  for (size_t i = 1; i < SLOTS; i++)
    if (slots[i].sort == SHARED || slots[i].sort == MEMFD) unmap_slot(&slots[i]);
  if (!below(4)) execl("/proc/self/exe", "soak", directory, "7", "1", NULL);
}

/* Children live for a while. */
static void end_child(void) {
  if (number && step > 400 && !below(300)) _exit(0);
  while (waitpid(-1, NULL, WNOHANG) > 0) children--;
}

static void change_slot(struct slot *slot) {
  if (slot == heap_slot) return below(3) ? write_some(slot) : resize_heap();
  if (slot->sort == NONE) return map_slot(slot);
  if (!(slot->prot & PROT_WRITE)) return protect_slot(slot);
  switch (below(16)) {
    case 0: return unmap_slot(slot);
    case 1: return forget_pages(slot);
    case 2: return resize_slot(slot);
    case 3: return move_slot(slot, &slots[1 + below(SLOTS - 1)]);
    case 4: return replace_slot(slot);
    case 5: return protect_slot(slot);
    case 6: return advise_slot(slot);
    default: return write_some(slot);
  }
}

static void on_usr1(int signal) {
  (void)signal;
  is_asked = 1;
}

static void make_file(void) {
  char path[512];
  snprintf(path, sizeof path, "%s/content-%d", directory, getpid());
  file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, MOST_PAGES * PAGE)) abort();
  file_content = mmap(NULL, MOST_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  for (size_t k = 0; k < MOST_PAGES * WORDS; k++) file_content[k] = mix(k);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  if (argc > 3) number = strtoull(argv[3], NULL, 10);
  directory = argv[1];
  seed = strtoull(argv[2], NULL, 10) ^ (uint64_t)getpid();
  signal(SIGUSR1, on_usr1);
  leave_heap_alone();
  make_file();
  resize_heap();
  start_thread();
  for (step = 1;; step++) {
    change_slot(&slots[below(SLOTS)]);
    if (!below(50)) branch();
    if (!below(20) && hold_stack(below(100), step * 2)) report("bad: the stack, step %lu\n", step);
    end_child();
    if (is_asked) {
      is_asked = 0;
      report("ok %lu %zu\n", step, check_all());
    }
    usleep(2000);
  }
}
