/* Stopping and continuing all threads of a cell. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "report.h"
#include "stopped.h"
#include "walls.h"

#define PATIENCE_NS 10000000000ULL /* for all stops together; they take long only if the CPUs are busy */
#define GLANCE_NS 30000            /* between two looks */
#define DOUBT_NS 2000000ULL        /* a thread that takes longer may be unable to stop */

/* Doubles the room when COUNT has reached it. */
static void *with_room(void *list, size_t count, size_t size) {
  if (count & (count - 1)) return list;
  return require_memory(realloc(list, (count ? 2 * count : 1) * size));
}

/* A program's own filters must not refuse an injected call. Some kernels do not have this option. */
static bool ask(int request, pid_t thread, unsigned long options) {
  options |= PTRACE_O_TRACESYSGOOD;
  if (!ptrace(request, thread, 0, options | PTRACE_O_SUSPEND_SECCOMP)) return true;
  return (errno == EINVAL || errno == EPERM) && !ptrace(request, thread, 0, options);
}

static bool seize(pid_t thread) { return ask(PTRACE_SEIZE, thread, 0); }
bool tie(pid_t thread) { return ask(PTRACE_SETOPTIONS, thread, PTRACE_O_EXITKILL); }
void untie(pid_t thread) { ask(PTRACE_SETOPTIONS, thread, 0); }

/* The kernel refuses a zombie, and a thread that another process traces. Both stay as they are. */
static void add_thread(struct group *group, pid_t id) {
  if (!seize(id)) return;
  if (ptrace(PTRACE_INTERRUPT, id, 0, 0)) return; /* it was killed meanwhile */
  group->threads = with_room(group->threads, group->thread_count, sizeof *group->threads);
  group->threads[group->thread_count++] = (struct thread){.id = id, .process = group->process_count - 1};
  group->processes[group->process_count - 1].count++;
}

static void add_process(struct group *group, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  if (!tasks) return; /* it has ended */
  group->processes = with_room(group->processes, group->process_count, sizeof *group->processes);
  group->processes[group->process_count++] = (struct process){.pid = pid, .first = group->thread_count};
  for (struct dirent *entry; (entry = readdir(tasks));)
    if (*entry->d_name != '.') add_thread(group, atoi(entry->d_name));
  closedir(tasks);
}

static void seize_all(struct group *group) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.procs", group->cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open '%s'", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) add_process(group, pid);
  fclose(list);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The parent of a vfork, for example, cannot stop until its child has become another program. */
static bool is_unable_to_stop(pid_t thread) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/stat", thread);
  FILE *stat = fopen(path, "re");
  const char *end = stat && fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
  if (stat) fclose(stat);
  return !end || end[2] == 'D' || end[2] == 'Z' || end[2] == 'X';
}

static bool await_stop(pid_t thread, uint64_t began) {
  for (int status;;) {
    pid_t found = waitpid(thread, &status, __WALL | WNOHANG);
    if (found == thread) return WIFSTOPPED(status);
    if (found < 0 && errno != EINTR) return false;
    uint64_t waited = now() - began;
    if (waited > PATIENCE_NS || (waited > DOUBT_NS && is_unable_to_stop(thread))) return false;
    nanosleep(&(struct timespec){.tv_nsec = GLANCE_NS}, NULL);
  }
}

void stop_group(struct group *group, const char *cgroup) {
  *group = (struct group){.cgroup = cgroup};
  prctl(PR_SET_TIMERSLACK, 1); /* or each short sleep takes 50 µs longer */
  seize_all(group);
  set_frozen(cgroup, false);
  uint64_t began = now();
  for (size_t i = 0; i < group->thread_count; i++)
    group->threads[i].is_stopped = await_stop(group->threads[i].id, began);
}

/* The first one that can stop; usually the leader. */
static pid_t thread_to_stop(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  pid_t found = 0;
  for (struct dirent *entry; tasks && !found && (entry = readdir(tasks));)
    if (*entry->d_name != '.' && !is_unable_to_stop(atoi(entry->d_name))) found = atoi(entry->d_name);
  if (tasks) closedir(tasks);
  return found;
}

bool stop_one(struct group *group, pid_t pid) {
  pid_t thread = thread_to_stop(pid);
  *group = (struct group){.processes = require_memory(calloc(1, sizeof *group->processes)), .process_count = 1};
  *group->processes = (struct process){.pid = pid};
  if (!thread) return false;
  add_thread(group, thread);
  if (!group->thread_count) return false;
  return group->threads->is_stopped = await_stop(thread, now());
}

/* The kernel does it for those that are not stopped, when this process ends. */
void let_go(struct group *group) {
  for (size_t i = 0; i < group->thread_count; i++)
    if (group->threads[i].is_stopped) ptrace(PTRACE_DETACH, group->threads[i].id, 0, 0);
  free(group->threads);
  free(group->processes);
  *group = (struct group){0};
}
