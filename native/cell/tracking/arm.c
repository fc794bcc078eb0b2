/* Write tracking of one process, from outside, by its userfaultfd. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "holder.h"
#include "shared/owned.h"
#include "shared/pagemap-scan.h"

/* Missing in headers before Linux 6.7. With the first one PAGEMAP_SCAN can tell armed areas from others; the second
 * makes the kernel note a write and continue, so that nobody has to handle it. */
#define WRITES_OF_MISSING (1ULL << 13)
#define WRITES_NOTED (1ULL << 15)

#define MOST_RUNS 4096
#define PAGE_BYTES 4096

static int prepare(int faults) {
  struct uffdio_api api = {.api = UFFD_API, .features = WRITES_OF_MISSING | WRITES_NOTED};
  return ioctl(faults, UFFDIO_API, &api);
}

const char *why_not_trackable(void) {
  autoclose int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  if (faults < 0) return "userfaultfd is not available";
  if (prepare(faults)) return "userfaultfd cannot note writes; Linux 6.7 can";
  autoclose int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  struct page_run run;
  uint64_t at = (uint64_t)&run & ~(uint64_t)(PAGE_BYTES - 1);
  struct page_scan scan = {.size = sizeof scan,
                           .start = at,
                           .end = at + PAGE_BYTES,
                           .vec = (uint64_t)&run,
                           .vec_len = 1,
                           .mask = PAGE_WRITTEN,
                           .returned = PAGE_WRITTEN | PAGE_ARMABLE};
  if (pages < 0 || ioctl(pages, SCAN_PAGES, &scan) < 0) return "PAGEMAP_SCAN is not available; Linux 6.7 has it";
  return NULL;
}

static bool has_ended(const struct tracked *tracked) {
  struct pollfd end = {.fd = tracked->process, .events = POLLIN};
  return poll(&end, 1, 0) != 0;
}

/* Lifting the protection of a page that is hardly ever mapped is harmless: it would only count as written. The kernel
 * answers ESRCH if the memory is gone. */
bool is_current(const struct tracked *tracked) {
  struct uffdio_writeprotect lift = {.range = {.start = 1 << 16, .len = PAGE_BYTES}};
  return !has_ended(tracked) && (!ioctl(tracked->faults, UFFDIO_WRITEPROTECT, &lift) || errno != ESRCH);
}

struct area {
  uint64_t start, end;
};

/* A line of /proc/PID/maps. Private and without a file; the kernel's own areas begin with v: vdso, vvar, vsyscall. */
static bool is_private_memory(const char *line, struct area *area) {
  unsigned long inode;
  char mode[8];
  int name_at = 0;
  if (sscanf(line, "%lx-%lx %7s %*x %*s %lu %n", &area->start, &area->end, mode, &inode, &name_at) != 4) return false;
  const char *name = line + name_at;
  bool is_of_kernel = !strncmp(name, "[v", 2) || !strncmp(name, "[uprobes", 8) || !strncmp(name, "[sigpage", 8);
  return mode[3] == 'p' && inode == 0 && !is_of_kernel && area->end >> 63 == 0;
}

/* Registers each area, and finds the range that all of them are in. An area that cannot be registered is dumped in
 * full. */
static int register_areas(const struct tracked *tracked, struct area *all, struct error *error) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", tracked->pid);
  FILE *maps = fopen(path, "re");
  if (!maps) return error_set(error, errno, "open '%s'", path);
  autofree char *line = NULL;
  size_t room = 0;
  int failed = 0;
  *all = (struct area){UINT64_MAX, 0};
  for (struct area area; !failed && getline(&line, &room, maps) > 0;) {
    if (!is_private_memory(line, &area)) continue;
    struct uffdio_register range = {.range = {area.start, area.end - area.start}, .mode = UFFDIO_REGISTER_MODE_WP};
    if (ioctl(tracked->faults, UFFDIO_REGISTER, &range)) {
      if (errno == ESRCH) failed = error_set(error, errno, "UFFDIO_REGISTER of pid %d", tracked->pid);
      continue;
    }
    if (area.start < all->start) all->start = area.start;
    if (area.end > all->end) all->end = area.end;
  }
  fclose(maps);
  return failed;
}

/* What the holder tells about pages that it armed; also in src/criu/tracking/page-ranges.ts. */
static int write_notes(int notes, pid_t pid, const struct page_run *runs, size_t count, struct error *error) {
  static struct page_note written[MOST_RUNS];
  for (size_t i = 0; i < count; i++) written[i] = (struct page_note){(uint64_t)pid, runs[i].start, runs[i].end};
  size_t length = count * sizeof *written;
  if (write(notes, written, length) != (ssize_t)length) return error_set(error, errno, "note pages of pid %d", pid);
  return 0;
}

/* Arms pages that are there; in the registered areas, none is of a file. With a vector even if nobody reads it: without
 * one the kernel also arms what is not there, and makes page tables for it. */
static int arm_written(const struct tracked *tracked, struct area all, int notes, struct error *error) {
  static struct page_run runs[MOST_RUNS];
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/pagemap", tracked->pid);
  autoclose int map = open(path, O_RDONLY | O_CLOEXEC);
  if (map < 0) return error_set(error, errno, "open '%s'", path);
  for (uint64_t at = all.start; at < all.end;) {
    struct page_scan scan = {.size = sizeof scan,
                             .flags = SCAN_ARM,
                             .start = at,
                             .end = all.end,
                             .vec = (uint64_t)runs,
                             .vec_len = MOST_RUNS,
                             .mask = PAGE_ARMABLE | PAGE_WRITTEN | PAGE_PRESENT | PAGE_OF_ZEROS,
                             .inverted = PAGE_OF_ZEROS,
                             .returned = PAGE_WRITTEN};
    long count = ioctl(map, SCAN_PAGES, &scan);
    if (count < 0) return error_set(error, errno, "PAGEMAP_SCAN of pid %d", tracked->pid);
    if (notes >= 0 && write_notes(notes, tracked->pid, runs, (size_t)count, error)) return -1;
    if (scan.walk_end <= at) return error_refuse(error, 0, "PAGEMAP_SCAN of pid %d does not proceed", tracked->pid);
    at = scan.walk_end;
  }
  return 0;
}

int arm(const struct tracked *tracked, int notes, struct error *error) {
  struct area all = {0};
  if (prepare(tracked->faults) && errno != EINVAL) /* EINVAL: it is prepared already */
    return error_set(error, errno, "UFFDIO_API of pid %d", tracked->pid);
  if (register_areas(tracked, &all, error)) return -1;
  if (arm_written(tracked, all, notes, error)) return -1;
  /* Only now is it certain that the pid still meant this process. */
  return has_ended(tracked) ? error_refuse(error, ESRCH, "pid %d has ended", tracked->pid) : 0;
}
