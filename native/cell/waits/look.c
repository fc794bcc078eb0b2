/* Which threads of a cell wait, and since when. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "report.h"
#include "stub.h"
#include "waits.h"

/* As the kernel prints it; a thread that runs is in no call. */
static bool read_call(pid_t process, pid_t thread, struct wait *wait) {
  char text[256];
  uint64_t *a = wait->arguments;
  if (!read_proc(process, thread, "syscall", text, sizeof text)) return false;
  if (sscanf(text, "-1 0x%lx 0x%lx", &wait->stack, &wait->instruction) == 2) return wait->number = -1, true;
  return sscanf(text, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx", &wait->number, &a[0], &a[1], &a[2], &a[3],
                &a[4], &a[5], &wait->stack, &wait->instruction) == 9;
}

/* The call as the program made it. Works only as long as the thread is asleep in it. */
static bool read_made_call(pid_t process, pid_t thread, struct wait *wait) {
  if (!read_call(process, thread, wait)) return false;
  wait->is_restarted = is_restarted(wait->number);
  if (wait->is_restarted) wait->number = made_call(process, thread, wait->arguments);
  return true;
}

typedef void visit(struct waits *waits, pid_t process, pid_t thread, const struct waits *before);

void add_wait(struct waits *waits, const struct wait *wait) {
  size_t count = waits->count;
  if (!(count & (count - 1)))
    waits->list = require_memory(realloc(waits->list, (count ? 2 * count : 1) * sizeof *waits->list));
  waits->list[waits->count++] = *wait;
}

static int by_thread(const void *a, const void *b) {
  pid_t first = ((const struct wait *)a)->thread, second = ((const struct wait *)b)->thread;
  return (first > second) - (first < second);
}

void sort_waits(struct waits *waits) {
  if (waits->count) qsort(waits->list, waits->count, sizeof *waits->list, by_thread);
}

const struct wait *find_wait(const struct waits *waits, pid_t thread) {
  struct wait key = {.thread = thread};
  return waits->count ? bsearch(&key, waits->list, waits->count, sizeof key, by_thread) : NULL;
}

static void visit_process(struct waits *waits, pid_t process, visit *visit, const struct waits *before) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = opendir(path);
  if (!tasks) return; /* it has ended */
  for (struct dirent *entry; (entry = readdir(tasks));)
    if (*entry->d_name != '.') visit(waits, process, atoi(entry->d_name), before);
  closedir(tasks);
}

static void visit_all(struct waits *waits, const char *cgroup, visit *visit, const struct waits *before) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open '%s'", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) visit_process(waits, pid, visit, before);
  fclose(list);
  sort_waits(waits);
}

/* The count of sleeps comes first: if the thread runs before all is read, it tells later. */
static void note_sleep(struct waits *waits, pid_t process, pid_t thread, const struct waits *before) {
  (void)before;
  struct wait wait = {.thread = thread};
  if (!read_made_call(process, thread, &wait)) return;
  wait.call = call_of(wait.number, wait.arguments);
  if (!wait.is_restarted && !depends_on_start(process, &wait)) return;
  if (!read_status(process, thread, &wait.status) || !read_made_call(process, thread, &wait)) return;
  wait.asleep = last_ran(process, thread);
  add_wait(waits, &wait);
}

void look_before_process(struct waits *waits, pid_t process) {
  *waits = (struct waits){0};
  visit_process(waits, process, note_sleep, NULL);
  sort_waits(waits);
}

void look_before(struct waits *waits, const char *cgroup) {
  *waits = (struct waits){0};
  visit_all(waits, cgroup, note_sleep, NULL);
}

static bool is_same_call(const struct wait *a, const struct wait *b) {
  return a->number == b->number && a->stack == b->stack && a->instruction == b->instruction &&
         !memcmp(a->arguments, b->arguments, sizeof a->arguments);
}

/* A thread that was frozen in its sleep sleeps once more, for the freezer. Otherwise it has begun another wait since.
 */
bool has_slept_on(const struct wait *before, const struct wait *after) {
  return is_same_call(before, after) && after->status.sleeps <= before->status.sleeps + 1;
}

static void note_interrupted(struct waits *waits, pid_t process, pid_t thread, const struct waits *before) {
  struct wait wait = {.thread = thread};
  const struct wait *earlier = find_wait(before, thread);
  /* Now: once it continues, it may end before anybody asks for its number. */
  if (!read_call(process, thread, &wait) || !read_status(process, thread, &wait.status)) return;
  if (earlier && earlier->is_restarted && is_restarted(wait.number)) wait.number = earlier->number;
  bool slept_on = earlier && has_slept_on(earlier, &wait);
  if (!slept_on && earlier && earlier->is_restarted) return; /* nobody knows which call it is */
  wait.call = call_of(wait.number, wait.arguments);
  wait.is_in_code = code_around(process, wait.instruction);
  if (wait.call.end == KEPT && !wait.is_in_code) return;
  if (slept_on) wait.asleep = earlier->asleep;
  wait.left = left_of(process, &wait, waits->frozen);
  add_wait(waits, &wait);
}

void look_after(struct waits *waits, const struct waits *before, const char *cgroup) {
  *waits = (struct waits){.frozen = monotonic_now()};
  visit_all(waits, cgroup, note_interrupted, before);
}

void look_after_process(struct waits *waits, const struct waits *before, pid_t process) {
  *waits = (struct waits){.frozen = monotonic_now()};
  visit_process(waits, process, note_interrupted, before);
  sort_waits(waits);
}
