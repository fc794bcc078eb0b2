/* Joining and freezing cgroups. */
#define _GNU_SOURCE
#include "cell.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void join_cgroups(const struct spec *spec, pid_t pid) {
  char number[16], path[PATH_MAX];
  snprintf(number, sizeof number, "%d\n", pid);
  for (size_t i = 0; i < spec->cgroup_count; i++) {
    snprintf(path, sizeof path, "%s/cgroup.procs", spec->cgroups[i]);
    write_file(path, number);
  }
}

/* Where this process is in the hierarchy that is mounted there; false if it is not known. */
static bool find_own(const char *mount, char *path, size_t size) {
  char line[PATH_MAX], control[PATH_MAX];
  snprintf(control, sizeof control, "%s/cgroup.controllers", mount);
  const char *hierarchy = access(control, F_OK) ? ":freezer:" : "0::";
  FILE *own = fopen("/proc/self/cgroup", "re");
  bool found = false;
  while (own && !found && fgets(line, sizeof line, own)) {
    const char *at = strstr(line, hierarchy);
    if (!at) continue;
    line[strcspn(line, "\n")] = 0;
    found = snprintf(path, size, "%s%s/cgroup.procs", mount, at + strlen(hierarchy)) < (int)size;
  }
  if (own) fclose(own);
  return found;
}

void keep_cgroups_quick(const char *mount, unsigned milliseconds) {
  char path[PATH_MAX];
  int fd = find_own(mount, path, sizeof path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  for (unsigned i = 0; fd >= 0 && i < milliseconds; i++) {
    if (pwrite(fd, "0", 1, 0) < 0) return; /* 0 is the process that writes: it goes where it is */
    usleep(1000);
  }
}

void freeze_cell(const char *cgroup) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.freeze", cgroup);
  if (!access(path, F_OK)) return write_file(path, "1");
  snprintf(path, sizeof path, "%s/freezer.state", cgroup);
  write_file(path, "FROZEN");
}
