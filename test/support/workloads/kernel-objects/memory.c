/* Mappings of every kind. */
#define _GNU_SOURCE
#include "object.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEGABYTE (1024 * 1024)

static uint32_t *heap;

static void make_heap(void) {
  heap = malloc(4 * MEGABYTE);
  for (uint32_t i = 0; i < MEGABYTE; i++) heap[i] = i * 2654435761u;
}

static bool heap_holds(void) {
  for (uint32_t i = 0; i < MEGABYTE; i++)
    if (heap[i] != i * 2654435761u) return false;
  return true;
}

/* Zeros between pages with content stay zeros. */
static char *sparse;

static void make_sparse(void) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  sparse = MUST(mmap(NULL, 64 * MEGABYTE, PROT_READ | PROT_WRITE, flags, -1, 0));
  for (int i = 0; i < 64; i++) sparse[i * MEGABYTE + 5] = (char)i;
}

static bool sparse_holds(void) {
  for (int i = 0; i < 64; i++)
    if (sparse[i * MEGABYTE + 5] != i || sparse[i * MEGABYTE + 4101]) return false;
  return true;
}

/* What madvise frees reads as zeros, even if it was in the snapshot. */
static char *given_back;

static void make_given_back(void) {
  int access = PROT_READ | PROT_WRITE;
  given_back = MUST(mmap(NULL, MEGABYTE, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memset(given_back, 1, MEGABYTE);
}

static bool given_back_holds(void) {
  if (given_back[MEGABYTE - 1] != 1) return false;
  MUST(madvise(given_back, MEGABYTE, MADV_DONTNEED));
  bool zero = true;
  for (int i = 0; i < MEGABYTE; i += 512) zero = zero && given_back[i] == 0;
  memset(given_back, 1, MEGABYTE);
  return zero;
}

static char *memfd_map;
static int memfd = -1;

static void make_memfd(void) {
  memfd = MUST(memfd_create("sealed", MFD_ALLOW_SEALING));
  MUST(write(memfd, "in a memfd", 10));
  MUST(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  memfd_map = MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0));
}

static bool memfd_holds(void) {
  char text[10];
  return pread(memfd, text, 10, 0) == 10 && !memcmp(text, "in a memfd", 10) &&
         !memcmp(memfd_map, "in a memfd", 10) &&
         fcntl(memfd, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW) && ftruncate(memfd, 0) < 0;
}

/* A private mapping of a file: one page changed, the other as in the file. */
static char *private_map;

static void make_private_map(void) {
  int fd = MUST(open("private-map", O_RDWR | O_CREAT, 0600));
  char page[4096] = "as in the file";
  MUST(write(fd, page, sizeof page));
  MUST(write(fd, page, sizeof page));
  private_map = MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
  strcpy(private_map, "changed");
  MUST(close(fd));
}

static bool private_map_holds(void) {
  return !strcmp(private_map, "changed") && !strcmp(private_map + 4096, "as in the file");
}

/* Shared between parent and child without a file: each sees what the other writes. */
static volatile int *shared;

static void make_shared(void) {
  shared = MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *shared = 1;
}

static bool add_one(void) {
  shared[1]++;
  return *shared == 1;
}

static bool shared_holds(void) {
  int before = shared[1];
  return in_child(add_one) && shared[1] == before + 1;
}

static char *locked, *guarded;

static long locked_kilobytes(void) {
  char line[128];
  long kilobytes = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmLck: %ld", &kilobytes);
  if (status) fclose(status);
  return kilobytes;
}

static void make_locked(void) {
  locked = MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  strcpy(locked, "locked");
  MUST(mlock(locked, 8192));
  guarded = MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  strcpy(guarded, "behind a guard page");
  MUST(mprotect(guarded + 4096, 4096, PROT_NONE));
  MUST(mprotect(guarded, 4096, PROT_READ));
}

static bool locked_holds(void) {
  /* The kernel returns EFAULT where the program itself would be killed. */
  int ends[2];
  MUST(pipe(ends));
  bool readable = write(ends[1], guarded, 1) == 1;
  bool writable = read(ends[0], guarded, 1) == 1;
  bool open = write(ends[1], guarded + 4096, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable && !writable && !open && !strcmp(guarded, "behind a guard page") &&
         !strcmp(locked, "locked") && locked_kilobytes() >= 8;
}

const struct object memory_objects[] = {
    {"a heap of 4 MiB", make_heap, heap_holds},
    {"a sparse mapping", make_sparse, sparse_holds},
    {"memory that was given back", make_given_back, given_back_holds},
    {"a sealed memfd", make_memfd, memfd_holds},
    {"a private mapping of a file", make_private_map, private_map_holds},
    {"memory shared with a child", make_shared, shared_holds},
    {"locked and guarded memory", make_locked, locked_holds},
    {0},
};
