/* Keeps restored processes from running: their cgroup is frozen before their first instruction.
 * CRIU was born in that cgroup, so that what it restores is; it has to leave it first. */
#define _GNU_SOURCE
#include "cell.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where in the same hierarchy this process is, as a directory; before it joins the cell's. */
void remember_cgroup(const char *cell) {
  const char *top = strstr(cell, "/forkpoint/");
  char path[PATH_MAX], line[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.freeze", cell);
  const char *hierarchy = access(path, F_OK) ? ":freezer:" : "0::";
  FILE *own = fopen("/proc/self/cgroup", "re");
  while (top && own && fgets(line, sizeof line, own)) {
    const char *found = strstr(line, hierarchy);
    if (!found) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(path, sizeof path, "%.*s%s", (int)(top - cell), cell, found + strlen(hierarchy));
    setenv("FORKPOINT_OWN_CGROUP", path, 1);
  }
  if (own) fclose(own);
}

static bool is_outside(int pid) {
  char path[64], theirs[64] = "", ours[64] = "";
  snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
  return readlink(path, theirs, sizeof theirs - 1) > 0 &&
         readlink("/proc/self/ns/pid", ours, sizeof ours - 1) > 0 && !strcmp(theirs, ours);
}

/* Reading goes on over a list that changes, so one is moved at a time. */
static bool move_one(const char *from, const char *to) {
  char path[PATH_MAX], number[16];
  snprintf(path, sizeof path, "%s/cgroup.procs", from);
  FILE *processes = fopen(path, "re");
  if (!processes) die("open", path);
  int pid = 0;
  while (fscanf(processes, "%d", &pid) == 1 && !is_outside(pid)) pid = 0;
  fclose(processes);
  if (pid == 0) return false;
  snprintf(path, sizeof path, "%s/cgroup.procs", to);
  snprintf(number, sizeof number, "%d\n", pid);
  write_file(path, number);
  return true;
}

void hold_cell(void) {
  const char *cell = getenv("FORKPOINT_HOLD"), *own = getenv("FORKPOINT_OWN_CGROUP");
  if (!cell || !own) return;
  while (move_one(cell, own)) continue;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.freeze", cell);
  if (!access(path, F_OK)) return write_file(path, "1");
  snprintf(path, sizeof path, "%s/freezer.state", cell);
  write_file(path, "FROZEN");
}
