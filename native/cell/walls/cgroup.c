/* Joining and freezing cgroups. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "walls.h"

/* Whether the words of LIST, which commas separate, include this one. */
static bool lists(const char *list, const char *word, size_t length) {
  for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
    if (!strncmp(at, word, length) && strchr(", \n", at[length])) return true;
  return false;
}

struct hierarchy {
  char root[PATH_MAX], mount[PATH_MAX], controllers[256];
};

/* The v1 hierarchy that DIR is in. If several are mounted in the same place, the last one is visible. */
static bool find_hierarchy(const char *dir, struct hierarchy *found) {
  static char line[4 * PATH_MAX];
  static struct hierarchy one;
  FILE *mounts = fopen("/proc/self/mountinfo", "re");
  bool is_found = false;
  while (mounts && fgets(line, sizeof line, mounts)) {
    const char *kind = strstr(line, " - cgroup ");
    if (!kind || sscanf(line, "%*s %*s %*s %4095s %4095s", one.root, one.mount) != 2) continue;
    size_t length = strlen(one.mount);
    if (strncmp(dir, one.mount, length) || dir[length] != '/') continue;
    if (sscanf(kind, " - %*s %*s %255s", one.controllers) != 1) continue;
    *found = one;
    is_found = true;
  }
  if (mounts) fclose(mounts);
  return is_found;
}

/* The file `tasks` of this process's own group, in the v1 hierarchy that DIR is in. It must be writable: a process
 * that enters another group has to come back. */
static bool find_own(const char *dir, char *path, size_t size) {
  static struct hierarchy hierarchy;
  static char line[PATH_MAX + 256];
  if (!find_hierarchy(dir, &hierarchy)) return false;
  FILE *own = fopen("/proc/self/cgroup", "re");
  bool is_found = false;
  while (own && !is_found && fgets(line, sizeof line, own)) {
    char *controllers = strchr(line, ':'), *at = controllers ? strchr(++controllers, ':') : NULL;
    if (!at || !lists(hierarchy.controllers, controllers, strcspn(controllers, ",:"))) continue;
    at[strcspn(at, "\n")] = 0;
    /* Inside a container, the mount may show only a part of the hierarchy. */
    size_t above = strcmp(hierarchy.root, "/") ? strlen(hierarchy.root) : 0;
    if (strncmp(++at, hierarchy.root, above)) continue;
    is_found = snprintf(path, size, "%s%s/tasks", hierarchy.mount, at + above) < (int)size && !access(path, W_OK);
  }
  if (own) fclose(own);
  return is_found;
}

size_t groups_to_enter(const struct spec *spec, struct doorway *groups) {
  static char names[CELL_MAX_CGROUPS][2][PATH_MAX];
  for (size_t i = 0; i < spec->cgroup_count; i++) {
    char *enter = names[i][0], *leave = names[i][1];
    snprintf(enter, PATH_MAX, "%s/tasks", spec->cgroups[i]);
    bool is_unified = access(enter, F_OK);
    if (!is_unified && !find_own(spec->cgroups[i], leave, PATH_MAX)) return 0;
    groups[i] =
        is_unified ? (struct doorway){.enter = spec->cgroups[i]} : (struct doorway){.enter = enter, .leave = leave};
  }
  return spec->cgroup_count;
}

/* The groups of a cell have the same name in every hierarchy. */
static bool is_in_cgroups(const struct spec *spec, pid_t pid) {
  static char line[PATH_MAX + 256];
  const char *name = strrchr(spec->cgroups[0], '/');
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
  size_t count = 0;
  FILE *all = fopen(path, "re");
  while (all && fgets(line, sizeof line, all)) {
    line[strcspn(line, "\n")] = 0;
    const char *last = strrchr(line, '/');
    if (last && !strcmp(last, name)) count++;
  }
  if (all) fclose(all);
  return count == spec->cgroup_count;
}

void join_cgroups(const struct spec *spec, pid_t pid) {
  char number[16], path[PATH_MAX];
  if (spec->cgroup_count && is_in_cgroups(spec, pid)) return;
  snprintf(number, sizeof number, "%d\n", pid);
  for (size_t i = 0; i < spec->cgroup_count; i++) {
    snprintf(path, sizeof path, "%s/cgroup.procs", spec->cgroups[i]);
    write_file(path, number);
  }
}

void set_frozen(const char *cgroup, bool frozen) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.freeze", cgroup);
  if (!access(path, F_OK)) return write_file(path, frozen ? "1" : "0");
  snprintf(path, sizeof path, "%s/freezer.state", cgroup);
  write_file(path, frozen ? "FROZEN" : "THAWED");
}

void let_killed_end(const char *cgroup) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/freezer.state", cgroup);
  if (!access(path, F_OK)) write_file(path, "THAWED");
}
