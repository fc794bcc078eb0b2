#define _GNU_SOURCE
#include "foreground.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"

struct process {
  pid_t parent;
  pid_t group;
  unsigned long long started;
};

/* Reads /proc/PID/stat, whose second field is a name that may have spaces and parentheses. False if it has ended. */
static bool read_process(const char *pid, struct process *process) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char *fields = strrchr(text, ')');
  return fields && sscanf(fields, ") %*c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                          &process->parent, &process->group, &process->started) == 3;
}

/* The group of the child that the shell started last. A line runs its jobs one after the other, so that is the one in
 * the foreground, unless the line waits for a job in the background. */
static pid_t newest_group(pid_t shell) {
  pid_t found = 0;
  unsigned long long newest = 0;
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  for (struct dirent *entry; (entry = readdir(proc));) {
    struct process process;
    if (atoi(entry->d_name) <= 1 || !read_process(entry->d_name, &process)) continue;
    if (process.parent != shell || process.group == shell || process.started < newest) continue;
    found = process.group;
    newest = process.started;
  }
  closedir(proc);
  return found > 1 ? found : 0;
}

pid_t foreground_group(const struct shell *shell) {
  pid_t group = tcgetpgrp(shell->terminal.fd);
  /* gVisor answers only those whose own terminal it is. */
  if (group < 0) return newest_group(shell->child.pid);
  return group > 1 && group != shell->child.pid ? group : 0;
}
