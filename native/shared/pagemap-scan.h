/* The kernel's PAGEMAP_SCAN (since Linux 6.7), which tells which pages of a process are present, and which of them were
 * written since they were last armed. Headers of older systems lack it. */
#pragma once

#include <stdint.h>
#include <sys/ioctl.h>

struct page_run {
  uint64_t start, end, categories;
};

struct page_scan {
  uint64_t size, flags;
  uint64_t start, end;
  uint64_t walk_end; /* where the scan stopped; before the end if the vector was full */
  uint64_t vec, vec_len;
  uint64_t max_pages;
  uint64_t inverted; /* categories that must be absent although they are in `mask` */
  uint64_t mask;     /* all of these */
  uint64_t anyof;    /* at least one of these */
  uint64_t returned; /* which categories to tell */
};

#define SCAN_PAGES _IOWR('f', 16, struct page_scan)
#define SCAN_ARM 1 /* arm what matches; areas that cannot be armed are passed over */

enum {
  PAGE_ARMABLE = 1 << 0, /* its area is registered; the kernel's PAGE_IS_WPALLOWED */
  PAGE_WRITTEN = 1 << 1, /* or never armed */
  PAGE_OF_FILE = 1 << 2, /* not the process's own copy */
  PAGE_PRESENT = 1 << 3,
  PAGE_SWAPPED = 1 << 4,
  PAGE_OF_ZEROS = 1 << 5, /* the kernel's one page of zeros */
  PAGE_GUARD = 1 << 8,
};
