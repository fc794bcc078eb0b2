/* Whether nothing in a cell runs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stopped.h"

const struct thread *stopped_thread(const struct group *group, const struct process *process) {
  for (size_t i = 0; i < process->count; i++)
    if (group->threads[process->first + i].is_stopped) return &group->threads[process->first + i];
  return NULL;
}

static bool is_stopped(const struct group *group, const struct process *process, pid_t thread) {
  const struct thread *first = group->threads + process->first;
  for (size_t i = 0; i < process->count; i++)
    if (first[i].id == thread) return first[i].is_stopped;
  return false;
}

/* Whether a thread can no longer write anything. */
static bool is_dead(pid_t process, pid_t thread) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
  FILE *stat = fopen(path, "re");
  const char *end = stat && fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
  if (stat) fclose(stat);
  return !end || end[2] == 'Z' || end[2] == 'X';
}

static bool is_all_stopped(const struct group *group, const struct process *process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process->pid);
  DIR *tasks = opendir(path);
  bool all = true;
  for (struct dirent *entry; tasks && all && (entry = readdir(tasks));) {
    pid_t thread = atoi(entry->d_name);
    all = !thread || is_stopped(group, process, thread) || is_dead(process->pid, thread);
  }
  if (tasks) closedir(tasks);
  return all;
}

bool stands_still(const struct group *group) {
  for (size_t i = 0; i < group->process_count; i++)
    if (!is_all_stopped(group, &group->processes[i])) return false;
  return true;
}
