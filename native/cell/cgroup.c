/* Joining and freezing cgroups. */
#include "cell.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

void join_cgroups(const struct spec *spec, pid_t pid) {
  char number[16], path[PATH_MAX];
  snprintf(number, sizeof number, "%d\n", pid);
  for (size_t i = 0; i < spec->cgroup_count; i++) {
    snprintf(path, sizeof path, "%s/cgroup.procs", spec->cgroups[i]);
    write_file(path, number);
  }
}

void freeze_cell(const char *cgroup) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.freeze", cgroup);
  if (!access(path, F_OK)) return write_file(path, "1");
  snprintf(path, sizeof path, "%s/freezer.state", cgroup);
  write_file(path, "FROZEN");
}
