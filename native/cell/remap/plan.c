/* What to map, as the engine writes it: a line for each run with PID START END OFFSET PROTECTION FLAGS ADVICE NAME. All
 * numbers but the first are hexadecimal. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "remap.h"
#include "report.h"
#include "shared/owned.h"

#define MOST_RUNS 65536

static bool is_sound(const struct run *run) {
  uint64_t all = run->start | run->end | run->offset;
  return run->pid > 0 && run->start < run->end && !(all & (PAGE_BYTES - 1)) && run->end >> 47 == 0 &&
         !(run->flags & ~MAP_NORESERVE) && !strchr(run->name, '/');
}

int read_plan(const char *directory, struct plan *plan, struct error *error) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/remap.plan", directory);
  FILE *file = fopen(path, "re");
  *plan = (struct plan){0};
  if (!file) return error_set(error, errno, "open '%s'", path);
  struct run run;
  while (plan->count < MOST_RUNS && fscanf(file, "%d %lx %lx %lx %x %x %lx %127s", &run.pid, &run.start, &run.end,
                                           &run.offset, &run.protection, &run.flags, &run.advice, run.name) == 8) {
    if (!is_sound(&run)) break;
    plan->runs = require_memory(reallocarray(plan->runs, plan->count + 1, sizeof run));
    plan->runs[plan->count++] = run;
  }
  bool is_complete = feof(file);
  fclose(file);
  return is_complete ? 0 : error_refuse(error, 0, "line %zu of '%s' is no run", plan->count + 1, path);
}
