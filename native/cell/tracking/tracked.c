/* What is tracked, for the engine. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holder.h"
#include "shared/owned.h"
#include "shared/pagemap-scan.h"

#define MOST_RUNS 4096
#define END_OF_MEMORY ((1ULL << 47) - 4096) /* the kernel refuses a scan beyond */

/* Bytes of present pages of this kind. */
static uint64_t count_bytes(int map, uint64_t mask, uint64_t inverted) {
  static struct page_run runs[MOST_RUNS];
  uint64_t bytes = 0;
  for (uint64_t at = 0; at < END_OF_MEMORY;) {
    struct page_scan scan = {.size = sizeof scan,
                             .start = at,
                             .end = END_OF_MEMORY,
                             .vec = (uint64_t)runs,
                             .vec_len = MOST_RUNS,
                             .mask = mask | PAGE_PRESENT | PAGE_OF_ZEROS,
                             .inverted = inverted | PAGE_OF_ZEROS,
                             .returned = PAGE_PRESENT};
    long count = ioctl(map, SCAN_PAGES, &scan);
    if (count < 0 || scan.walk_end <= at) break;
    for (long i = 0; i < count; i++) bytes += runs[i].end - runs[i].start;
    at = scan.walk_end;
  }
  return bytes;
}

/* How much a process has written since it was armed, also in areas that are new. A rough figure: it runs. To look only
 * in those whether a page is of a file saves most of the time. */
static uint64_t written_bytes(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
  autoclose int map = open(path, O_RDONLY | O_CLOEXEC);
  if (map < 0) return 0;
  return count_bytes(map, PAGE_ARMABLE | PAGE_WRITTEN, 0) +
         count_bytes(map, PAGE_ARMABLE | PAGE_OF_FILE, PAGE_ARMABLE | PAGE_OF_FILE);
}

/* A line for each process whose writes since the snapshot NAME are known: its pid, and how many bytes it has written.
 */
void verb_tracked(char **words) {
  struct list list;
  autoclose int holder = connect_in(words[0]);
  if (holder < 0) return; /* nothing is tracked */
  if (!get_list(holder, &list)) return;
  for (size_t i = 0; i < list.count; i++)
    if (!strncmp(list.all[i].name, words[1], MOST_NAME))
      printf("%d %" PRIu64 "\n", list.all[i].pid, written_bytes(list.all[i].pid));
  free(list.all);
}

void verb_trackable(char **) {
  const char *why_not = why_not_trackable();
  if (why_not) puts(why_not);
}
