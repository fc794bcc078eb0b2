/* Loaded into CRIU. Where a process inherits pages from an earlier dump, a restore maps all of its private memory
 * first, and as writable, whatever it was. A browser reserves a terabyte that nobody can access, and the kernel does
 * not promise that much memory to anybody. So large areas are mapped without such a promise. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

#include "raw.h"

#define LARGE (1UL << 30)

static void *map(void *at, size_t length, int prot, int flags, int fd, long offset) {
  const int wanted = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (length >= LARGE && prot & PROT_WRITE && (flags & wanted) == wanted) flags |= MAP_NORESERVE;
  return (void *)with_errno(raw_syscall(SYS_mmap, (long)at, (long)length, prot, flags, fd, offset));
}

void *mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset) {
  return map(at, length, prot, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset) {
  return map(at, length, prot, flags, fd, offset);
}
