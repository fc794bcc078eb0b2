#define _GNU_SOURCE
#include "remap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "report.h"
#include "shared/owned.h"
#include "stage.h"

/* Opened where the processes see it: CRIU has to find the mount. What is there is for those inside to decide, so it is
 * compared with the file that it must be. */
static int open_file(pid_t agent, const char *directory, const char *name, struct error *error) {
  char path[PATH_MAX], root_path[64];
  struct stat wanted, found;
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
                         .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
  snprintf(path, sizeof path, "%s/pages/%s", directory, name);
  if (lstat(path, &wanted)) return error_set(error, errno, "stat '%s'", path);
  snprintf(root_path, sizeof root_path, "/proc/%d/root", agent);
  autoclose int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return error_set(error, errno, "open '%s'", root_path);
  snprintf(path, sizeof path, PAGES_DIR "/%s", name);
  autoclose int file = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
  if (file < 0) return error_set(error, errno, "open inside '%s'", path);
  if (fstat(file, &found)) return error_set(error, errno, "stat inside '%s'", path);
  if (found.st_dev != wanted.st_dev || found.st_ino != wanted.st_ino)
    return error_refuse(error, 0, "another file is mounted inside at '%s'", path);
  return take_fd(&file);
}

/* In kilobytes. */
static unsigned long locked_memory(pid_t pid) {
  char path[64], line[256];
  unsigned long locked = 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "re");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmLck: %lu", &locked) == 1) break;
  if (status) fclose(status);
  return locked;
}

static const struct process *find_process(const struct group *group, pid_t pid) {
  for (size_t i = 0; i < group->process_count; i++)
    if (group->processes[i].pid == pid) return &group->processes[i];
  return NULL;
}

static int remap_process(struct inside *inside, int file, const struct run *runs, size_t count, enum freeing freeing,
                         struct park *park, struct error *error) {
  pid_t pid = inside->process->pid;
  unsigned long locked = locked_memory(pid);
  if (enter(inside, file, error)) return -1;
  int failed = locked_memory(pid) == locked
                   ? map_runs(inside, runs, count, freeing, park, error)
                   : error_refuse(error, 0, "pid %d has the kernel lock all memory that it maps", pid);
  leave(inside);
  return failed;
}

static void add_park(struct parks *parks, const struct park *park) {
  if (park->start == park->end) {
    if (park->areas >= 0) close(park->areas);
    return;
  }
  parks->list = require_memory(reallocarray(parks->list, parks->count + 1, sizeof *park));
  parks->list[parks->count++] = *park;
}

/* For the record of the next snapshot. Complete or not at all. */
static void write_failure(const char *directory, const struct error *error) {
  char draft[PATH_MAX], path[PATH_MAX];
  snprintf(draft, sizeof draft, "%s/remapped.new", directory);
  snprintf(path, sizeof path, "%s/remapped", directory);
  FILE *file = fopen(draft, "we");
  if (!file) return; /* the record will not say why */
  fputs(error->text, file);
  if (!fclose(file)) rename(draft, path);
}

struct site {
  struct group *group;
  pid_t agent;
  const char *directory;
  enum freeing freeing;
};

/* RUNS are all those of one process, of one file. */
static void remap_one(const struct site *site, const struct run *runs, size_t count, struct parks *parks,
                      struct error *first) {
  struct error error;
  struct park park = {.areas = -1};
  struct inside inside = {.group = site->group, .process = find_process(site->group, runs->pid)};
  inside.thread = inside.process ? stopped_thread(site->group, inside.process) : NULL;
  if (!inside.thread) return; /* it has ended */
  autoclose int file = open_file(site->agent, site->directory, runs->name, &error);
  int failed = file < 0 ? -1 : remap_process(&inside, file, runs, count, site->freeing, &park, &error);
  if (failed && !*first->text) *first = error;
  add_park(parks, &park);
}

static bool is_same_file(const struct run *a, const struct run *b) {
  return a->pid == b->pid && !strcmp(a->name, b->name);
}

struct parks remap_stopped(struct group *group, pid_t agent, const char *directory, enum freeing freeing) {
  struct site site = {group, agent, directory, freeing};
  struct error error = {0};
  struct parks parks = {0};
  struct plan plan;
  int failed = stands_still(group) ? read_plan(directory, &plan, &error)
                                   : error_refuse(&error, 0, "not every thread could be stopped");
  for (size_t first = 0, next; !failed && first < plan.count; first = next) {
    for (next = first + 1; next < plan.count && is_same_file(&plan.runs[first], &plan.runs[next]);) next++;
    remap_one(&site, &plan.runs[first], next - first, &parks, &error);
  }
  if (*error.text) write_failure(directory, &error);
  return parks;
}
