/* The pairs of a copy. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "report.h"
#include "stopped.h"
#include "waits.h"

#define MOST_SPOTS (1 << 24)

static void add_spot(struct spots *spots, struct spot spot) {
  if (!(spots->count & (spots->count - 1)))
    spots->list = require_memory(realloc(spots->list, (spots->count ? 2 * spots->count : 1) * sizeof *spots->list));
  spots->list[spots->count++] = spot;
}

/* The device, and then what `cell pairs` printed. */
void read_spots(struct spots *spots, const char *path) {
  struct spot spot;
  char kind[8];
  *spots = (struct spots){0};
  FILE *file = fopen(path, "re");
  if (!file) die("open '%s'", path);
  if (fscanf(file, "%" SCNu64, &spots->device) != 1) die_because("'%s' does not begin with a device", path);
  while (fscanf(file, "%d %" SCNu64 " %7s", &spot.pid, &spot.address, kind) == 3) {
    if (spots->count == MOST_SPOTS) die_because("'%s' has more than %d lines", path, MOST_SPOTS);
    spot.is_statx = !strcmp(kind, "statx");
    add_spot(spots, spot);
  }
  if (!feof(file)) die_because("'%s' is no list of pairs", path);
  fclose(file);
}

/* Only where the old number still is. */
static void move_one(pid_t pid, const struct spot *spot, dev_t from, dev_t to) {
  struct error error;
  uint64_t word, wanted = word_of(to, spot->is_statx);
  if (read_memory(pid, spot->address, &word, sizeof word, &error)) die_of(&error);
  if (word != word_of(from, spot->is_statx)) return;
  if (write_memory(pid, spot->address, &wanted, sizeof wanted, &error)) die_of(&error);
}

static void move_in_process(const struct spots *spots, pid_t pid, dev_t device) {
  struct status inside;
  if (!read_status(pid, pid, &inside)) return;
  for (size_t i = 0; i < spots->count; i++)
    if (spots->list[i].pid == inside.process) move_one(pid, &spots->list[i], spots->device, device);
}

void move_pairs(const struct spots *spots, const char *cgroup, dev_t device) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open '%s'", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) move_in_process(spots, pid, device);
  fclose(list);
}
