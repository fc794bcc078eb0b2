/* Loaded into CRIU. A dump asks the kernel which pages of a process there are. Pages that were not written since the
 * previous snapshot, which has their content, are left out of the answer, so that CRIU does not copy them again, and
 * noted down for the surgery on the images.
 *
 * The worker shows a directory as /tmp/tracking if there is such a snapshot. `known` in it says, for each process, at
 * which addresses that snapshot has the content: the pid, the number of ranges, and the ranges, in order. `clean` gets
 * a pid, a start and an end for each run that was left out. All numbers have 64 bits. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects/objects.h"
#include "raw.h"
#include "shared/pagemap-scan.h"

#define TRACKING "/tmp/tracking" /* also in cell/criu/jail.h */
#define MOST_RUNS 4096
#define PAGE_SIZE 4096
#define MOST_NOTES 1024
#define LARGE (4UL << 20)

struct range {
  uint64_t start, end;
};

/* What is known of one process. */
struct known {
  uint64_t pid, count;
  struct range ranges[];
};

static struct {
  bool is_read;
  int clean; /* -1: there is no earlier snapshot */
  const uint64_t *words, *end;
  uint64_t pid; /* the process of the latest scan */
  const struct known *process;
  size_t next;       /* the first of its ranges that does not end before the scan */
  bool keeps_a_page; /* whether one clean page of this process was dumped */
} state = {.clean = -1};

static struct { uint64_t pid, start, end; } notes[MOST_NOTES];
static size_t note_count;

static void read_known(void) {
  state.is_read = true;
  int fd = open(TRACKING "/known", O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0) return;
  if (!fstat(fd, &info) && info.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
      state.words = bytes;
      state.end = state.words + (size_t)info.st_size / sizeof(uint64_t);
      state.clean = open(TRACKING "/clean", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
  }
  close(fd);
}

static const struct known *find_known(uint64_t pid) {
  for (const uint64_t *at = state.words; at + 2 <= state.end;) {
    const struct known *known = (const struct known *)at;
    if (known->count > (uint64_t)(state.end - at - 2) / 2) return NULL;
    if (known->pid == pid) return known;
    at += 2 + 2 * known->count;
  }
  return NULL;
}

/* 0 if the descriptor is not the page map of a process. */
static uint64_t pid_of(int fd) {
  char link[64], path[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, "/proc/", 6)) return 0;
  char *end;
  unsigned long pid = strtoul(path + 6, &end, 10);
  return strcmp(end, "/pagemap") ? 0 : pid;
}

/* False if all pages of this process are dumped. */
static bool turn_to(int fd, uint64_t start) {
  if (!state.is_read) read_known();
  if (state.clean < 0) return false;
  uint64_t pid = pid_of(fd);
  if (pid != state.pid) {
    state.pid = pid;
    state.process = pid ? find_known(pid) : NULL;
    state.keeps_a_page = false;
    state.next = 0;
  }
  if (!state.process) return false;
  const struct range *ranges = state.process->ranges;
  if (state.next && ranges[state.next - 1].end > start) state.next = 0;
  while (state.next < state.process->count && ranges[state.next].end <= start) state.next++;
  return true;
}

/* If notes cannot be written, pages that were left out would be lost, so the dump must fail. */
static bool write_notes(void) {
  const char *at = (const char *)notes;
  size_t left = note_count * sizeof *notes;
  note_count = 0;
  while (left) {
    ssize_t written = write(state.clean, at, left);
    if (written <= 0) return false;
    at += written;
    left -= (size_t)written;
  }
  return true;
}

static bool note_clean(uint64_t start, uint64_t end) {
  if (note_count == MOST_NOTES && !write_notes()) return false;
  notes[note_count].pid = state.pid;
  notes[note_count].start = start;
  notes[note_count++].end = end;
  return true;
}

/* The process's own page, with the content that it had when it was armed. Only a page that is present: a marker of
 * the kernel, where a page of a file was, looks like a page that is swapped out. */
static bool is_clean(uint64_t categories) {
  const uint64_t wanted = PAGE_ARMABLE | PAGE_PRESENT;
  const uint64_t unwanted = PAGE_WRITTEN | PAGE_OF_FILE | PAGE_OF_ZEROS | PAGE_SWAPPED | PAGE_GUARD;
  return (categories & wanted) == wanted && !(categories & unwanted);
}

struct answer {
  struct page_run *runs;
  uint64_t room, count;
};

/* False if there is no room. */
static bool tell(struct answer *answer, uint64_t start, uint64_t end, uint64_t categories) {
  struct page_run *last = answer->count ? &answer->runs[answer->count - 1] : NULL;
  if (last && last->end == start && last->categories == categories) {
    last->end = end;
    return true;
  }
  if (answer->count == answer->room) return false;
  answer->runs[answer->count++] = (struct page_run){start, end, categories};
  return true;
}

/* Finds the first part of [START, END) that the previous snapshot has. */
static struct range next_known(uint64_t start, uint64_t end) {
  const struct known *known = state.process;
  while (state.next < known->count && known->ranges[state.next].end <= start) state.next++;
  if (state.next == known->count || known->ranges[state.next].start >= end) return (struct range){end, end};
  struct range range = known->ranges[state.next];
  return (struct range){range.start < start ? start : range.start, range.end > end ? end : range.end};
}

enum outcome { TOLD, FULL, BROKEN };

/* Tells CRIU about the pages of a clean run that must still be dumped. *AT is how far it got. */
static enum outcome tell_clean(struct answer *answer, const struct page_run *run, uint64_t categories, uint64_t *at) {
  while (*at < run->end) {
    struct range known = next_known(*at, run->end);
    /* A pagemap needs at least one page. */
    if (!state.keeps_a_page && known.start < known.end) known.start += PAGE_SIZE;
    if (known.start > *at && !tell(answer, *at, known.start, categories)) return FULL;
    if (known.start > *at) state.keeps_a_page = true;
    if (known.start < known.end && !note_clean(known.start, known.end)) return BROKEN;
    *at = known.end > known.start ? known.end : known.start;
  }
  return TOLD;
}

static enum outcome tell_run(struct answer *answer, const struct page_run *run, uint64_t returned, uint64_t *at) {
  uint64_t categories = run->categories & returned;
  *at = run->start;
  if (is_clean(run->categories)) return tell_clean(answer, run, categories, at);
  if (!tell(answer, run->start, run->end, categories)) return FULL;
  *at = run->end;
  return TOLD;
}

/* What the kernel says of some pages, in order. */
struct found {
  struct page_run runs[MOST_RUNS];
  size_t count, next;
  uint64_t end; /* nothing is known from here on */
};

static long scan_into(int fd, struct page_scan scan, struct found *found) {
  scan.vec = (uint64_t)found->runs;
  scan.vec_len = MOST_RUNS;
  long count = raw_syscall(SYS_ioctl, fd, SCAN_PAGES, (long)&scan, 0, 0, 0);
  found->count = count < 0 ? 0 : (size_t)count;
  found->next = 0;
  found->end = scan.walk_end;
  return count;
}

#define TOLD_ABOUT (PAGE_ARMABLE | PAGE_WRITTEN | PAGE_PRESENT | PAGE_SWAPPED | PAGE_OF_ZEROS)

/* Asks for more than CRIU wants to know. */
static long scan_all(int fd, struct page_scan scan, struct found *found) {
  scan.returned |= TOLD_ABOUT | PAGE_OF_FILE;
  return scan_into(fd, scan, found);
}

/* The same for areas that are armed. No page in them is of a file. In large areas that question takes the kernel most
 * of the time. */
static long scan_armed(int fd, struct page_scan scan, struct found *found) {
  scan.mask = (scan.mask & ~(uint64_t)PAGE_OF_FILE) | PAGE_ARMABLE;
  scan.inverted &= ~(uint64_t)PAGE_OF_FILE;
  scan.returned |= TOLD_ABOUT;
  return scan_into(fd, scan, found);
}

static long scan_others(int fd, struct page_scan scan, struct found *found) {
  scan.mask |= PAGE_ARMABLE;
  scan.inverted |= PAGE_ARMABLE;
  return scan_into(fd, scan, found);
}

/* The next run of either, cut off at END; NULL if there is none. */
static struct page_run *next_run(struct found *one, struct found *other, uint64_t end) {
  struct found *from = one;
  if (one->next == one->count ||
      (other->next < other->count && other->runs[other->next].start < one->runs[one->next].start))
    from = other;
  if (from->next == from->count || from->runs[from->next].start >= end) return NULL;
  struct page_run *run = &from->runs[from->next++];
  if (run->end > end) run->end = end;
  return run;
}

/* In one scan or in two, whichever takes less time. */
static long scan_both(int fd, const struct page_scan *wanted, struct found *one, struct found *other) {
  if (wanted->end - wanted->start >= LARGE) {
    long failed = scan_armed(fd, *wanted, one);
    return failed < 0 ? failed : scan_others(fd, *wanted, other);
  }
  long count = scan_all(fd, *wanted, one);
  other->count = other->next = 0;
  other->end = one->end;
  return count;
}

/* Tells CRIU about fewer pages than there are. */
static long scan_without_clean(int fd, struct page_scan *wanted) {
  static struct found armed, others;
  long failed = scan_both(fd, wanted, &armed, &others);
  if (failed < 0) return failed;
  struct answer answer = {.runs = (struct page_run *)wanted->vec, .room = wanted->vec_len};
  uint64_t end = armed.end < others.end ? armed.end : others.end;
  enum outcome outcome = TOLD;
  for (struct page_run *run; outcome == TOLD && (run = next_run(&armed, &others, end));) {
    uint64_t at;
    outcome = tell_run(&answer, run, wanted->returned, &at);
    if (outcome == FULL) end = at;
  }
  if (outcome == BROKEN || !write_notes()) return -EIO;
  wanted->walk_end = end;
  return (long)answer.count;
}

static bool asks_for_pages(const struct page_scan *scan) {
  return !scan->flags && scan->vec && scan->vec_len && scan->anyof & PAGE_PRESENT && !(scan->anyof & PAGE_OF_FILE) &&
         !((scan->mask | scan->anyof) & PAGE_GUARD & ~scan->inverted);
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  long argument = va_arg(list, long);
  va_end(list);
  if ((unsigned)request == SCAN_PAGES) {
    struct page_scan *scan = (struct page_scan *)argument;
    if (asks_for_pages(scan) && turn_to(fd, scan->start)) return (int)with_errno(scan_without_clean(fd, scan));
  }
  if ((unsigned)request == FILE_OF_SOCKET) return (int)with_errno(file_of_socket(fd));
  return (int)with_errno(raw_syscall(SYS_ioctl, fd, (long)request, argument, 0, 0, 0));
}
