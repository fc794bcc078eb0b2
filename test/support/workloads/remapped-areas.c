/* Has memory of many kinds, and tells what has become of it whenever the file DIRECTORY/ask appears: a line for each
 * area with its flags and whether its content is right, then what a program could notice otherwise. The first thread
 * runs on a stack within plain memory, and waits with epoll_wait, which is never to be interrupted. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MIB (1UL << 20)
#define HEAP_BYTES (9 * MIB)
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

struct area {
  const char *name;
  size_t bytes;
  int flags, protection, advice; /* advice -1: none */
  unsigned char *at;
};

static struct area areas[] = {
    {"plain", 24 * MIB, 0, PROT_READ | PROT_WRITE, -1, NULL},
    {"small", 256 << 10, 0, PROT_READ | PROT_WRITE, -1, NULL},
    {"not-in-dumps", 6 * MIB, 0, PROT_READ | PROT_WRITE, MADV_DONTDUMP, NULL},
    {"huge", 8 * MIB, 0, PROT_READ | PROT_WRITE, MADV_HUGEPAGE, NULL},
    {"sequential", 5 * MIB, 0, PROT_READ | PROT_WRITE, MADV_SEQUENTIAL, NULL},
    {"not-in-forks", 6 * MIB, 0, PROT_READ | PROT_WRITE, MADV_DONTFORK, NULL},
    {"wiped", 6 * MIB, 0, PROT_READ | PROT_WRITE, MADV_WIPEONFORK, NULL},
    {"unreserved", 6 * MIB, MAP_NORESERVE, PROT_READ | PROT_WRITE, -1, NULL},
    {"growing", 5 * MIB, MAP_GROWSDOWN, PROT_READ | PROT_WRITE, -1, NULL},
    {"read-only", 6 * MIB, 0, PROT_READ, -1, NULL},
    {"code", 6 * MIB, 0, PROT_READ | PROT_EXEC, -1, NULL},
    {"locked", 6 * MIB, 0, PROT_READ | PROT_WRITE, -1, NULL},
};
#define AREAS (sizeof areas / sizeof *areas)

static const char *directory;
static unsigned interruptions, early;
static char *heap;

static unsigned char byte_at(size_t i, size_t seed) { return (unsigned char)((i * 2654435761u >> 13) ^ (i >> 12) ^ seed); }

static int is_right(const unsigned char *at, size_t bytes, size_t seed) {
  for (size_t i = 0; i < bytes; i++)
    if (at[i] != byte_at(i, seed)) return 0;
  return 1;
}

static void make(struct area *area, size_t seed) {
  area->at = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | area->flags, -1, 0);
  mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* so that the kernel joins no two of them */
  if (area->advice >= 0) madvise(area->at, area->bytes, area->advice);
  for (size_t i = 0; i < area->bytes; i++) area->at[i] = byte_at(i, seed);
  if (area->protection != (PROT_READ | PROT_WRITE)) mprotect(area->at, area->bytes, area->protection);
  if (!strcmp(area->name, "locked") && mlock(area->at, area->bytes)) perror("mlock");
}

/* The flags of every part of an area, once if they are all the same. */
static void tell_flags(FILE *out, const struct area *area) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  char line[512], first[512] = "";
  unsigned long start, end, from = (unsigned long)area->at, to = from + area->bytes;
  int is_inside = 0, files = 0;
  while (fgets(line, sizeof line, maps)) {
    char mode[8], path[256] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &start, &end, mode, path) >= 3 && strchr(line, '-')) {
      is_inside = start < to && end > from;
      files += is_inside && *path == '/';
    } else if (is_inside && !strncmp(line, "VmFlags: ", 9)) {
      line[strcspn(line, "\n")] = 0;
      if (!*first) strcpy(first, line + 9);
      else if (strcmp(first, line + 9)) strcpy(first, "differ");
    }
  }
  fclose(maps);
  fprintf(out, "%s|%s|%s|%s\n", area->name, is_right(area->at, area->bytes, (size_t)(area - areas)) ? "right" : "WRONG",
          files ? "file" : "memory", first);
}

static int count_descriptors(void) {
  DIR *list = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(list)) count++;
  closedir(list);
  return count;
}

/* A child sees the same memory, and its writes are its own. */
static int is_right_in_child(void) {
  pid_t child = fork();
  if (!child) {
    int right = is_right(areas[0].at, areas[0].bytes, 0) && is_right(areas[4].at, areas[4].bytes, 4);
    areas[0].at[12345] ^= 1;
    _exit(right ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 && is_right(areas[0].at, areas[0].bytes, 0);
}

/* The heap grows as ever, by zeros. */
static int is_heap_right(void) {
  if (!is_right((unsigned char *)heap, HEAP_BYTES, 99)) return 0;
  char *grown = sbrk(MIB);
  for (size_t i = 0; i < MIB; i++)
    if (grown[i]) return 0;
  memset(grown, 7, MIB);
  return 1;
}

static unsigned long kilobytes(const char *name) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  unsigned long found = 0;
  size_t length = strlen(name);
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, name, length)) found = strtoul(line + length + 1, NULL, 10);
  fclose(status);
  return found;
}

static void answer(const char *path, const char *draft) {
  FILE *out = fopen(draft, "w");
  for (size_t i = 0; i < AREAS; i++) tell_flags(out, &areas[i]);
  fprintf(out, "descriptors|%d\ninterruptions|%u\nearly|%u\nchild|%d\nheap|%d\n", count_descriptors(), interruptions,
          early, is_right_in_child(), is_heap_right());
  fprintf(out, "size|%lu\nanonymous|%lu\n", kilobytes("VmSize"), kilobytes("RssAnon"));
  fclose(out);
  rename(draft, path);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run(void) {
  char ask[300], path[300], draft[300];
  int none = epoll_create1(EPOLL_CLOEXEC);
  snprintf(ask, sizeof ask, "%s/ask", directory);
  snprintf(path, sizeof path, "%s/told", directory);
  snprintf(draft, sizeof draft, "%s/draft", directory);
  for (;;) {
    struct epoll_event event;
    double began = now();
    if (epoll_wait(none, &event, 1, 200) < 0 && errno == EINTR) interruptions++;
    else if (now() - began < 0.199) early++;
    if (!unlink(ask)) answer(path, draft);
  }
}

int main(int count, char **words) {
  if (count < 2) return 1;
  directory = words[1];
  heap = sbrk(HEAP_BYTES);
  for (size_t i = 0; i < HEAP_BYTES; i++) heap[i] = (char)byte_at(i, 99);
  for (size_t i = 0; i < AREAS; i++) make(&areas[i], i);
  prctl(PR_SET_VMA, 0, areas[1].at, areas[1].bytes, "named");
  size_t stack_bytes = 2 * MIB;
  char *stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(stack, 1, stack_bytes);
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = stack_bytes;
  there.uc_link = &here;
  makecontext(&there, run, 0);
  return swapcontext(&here, &there);
}
