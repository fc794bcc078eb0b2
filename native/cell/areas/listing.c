#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "areas.h"
#include "shared/owned.h"

#define PAGE_BYTES 4096UL
#define LARGE (64UL << 20) /* of its own memory; counting pages of less takes less than a millisecond */

static bool is_large(pid_t pid) {
  char path[64];
  unsigned long resident, of_files;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  FILE *statm = fopen(path, "re");
  bool read = statm && fscanf(statm, "%*u %lu %lu", &resident, &of_files) == 2;
  if (statm) fclose(statm);
  return read && (resident - of_files) * PAGE_BYTES >= LARGE;
}

/* The next large process of a list that starts with `cgroup.procs`; 0 at its end. */
static pid_t next_large(FILE *processes) {
  for (int pid; fscanf(processes, "%d", &pid) == 1;)
    if (is_large(pid)) return pid;
  return 0;
}

static FILE *open_processes(const char *cgroup) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  return fopen(path, "re");
}

struct lister prepare_lister(const char *cgroup) {
  struct lister lister = {.program = -1};
  struct layout layout;
  FILE *processes = open_processes(cgroup);
  bool wanted = processes && next_large(processes);
  if (processes) fclose(processes);
  if (!wanted || !find_layout(&layout)) return lister;
  lister.program = load_lister(&layout);
  if (lister.program >= 0 && !learn_words(lister.program, &lister.words)) {
    close(lister.program);
    lister.program = -1;
  }
  return lister;
}

/* As smaps would have it, without the figures. False if an area is missing, or something about it is not known. */
static bool write_areas(const struct lister *lister, const struct areas *areas, FILE *maps, FILE *to) {
  autofree char *line = NULL;
  size_t room = 0, next = 0;
  char words[256];
  while (getline(&line, &room, maps) > 0) {
    unsigned long start, end;
    if (sscanf(line, "%lx-%lx ", &start, &end) != 2) return false;
    if (start >> 63) { /* a page of the kernel, which is no area of the process */
      fprintf(to, "%sVmFlags: ex\n", line);
      continue;
    }
    while (next < areas->count && areas->all[next].start < start) next++;
    if (next == areas->count || areas->all[next].start != start || areas->all[next].end != end) return false;
    if (!put_words(&lister->words, areas->all[next].flags, words, sizeof words)) return false;
    fprintf(to, "%sVmFlags: %s\n", line, words);
  }
  return next > 0;
}

static bool write_listing(const struct lister *lister, pid_t pid, const char *draft) {
  char path[64];
  struct areas areas;
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "re"), *to = fopen(draft, "we");
  bool done = maps && to && list_areas(lister->program, pid, &areas);
  if (done) {
    done = write_areas(lister, &areas, maps, to) && !fflush(to) && !ferror(to);
    free(areas.all);
  }
  if (maps) fclose(maps);
  if (to) fclose(to);
  return done;
}

void write_listings(const struct lister *lister, const char *cgroup, const char *directory) {
  FILE *processes = lister->program < 0 ? NULL : open_processes(cgroup);
  for (pid_t pid; processes && (pid = next_large(processes));) {
    char draft[PATH_MAX], path[PATH_MAX];
    snprintf(draft, sizeof draft, "%s/smaps.new", directory);
    snprintf(path, sizeof path, "%s/smaps-%d", directory, pid);
    if (!write_listing(lister, pid, draft) || rename(draft, path)) unlink(draft);
  }
  if (processes) fclose(processes);
}
