/* Children of the agent: those that it started, and orphans, which it only reaps. */
#pragma once

#include <sys/types.h>

#include "list.h"
#include "shared/error.h"

struct child {
  pid_t pid; /* 0 after it was reaped, as the number may then belong to another process */
  struct list link;
  void (*exited)(struct child *child, int wait_status);
};

/* Takes SIGCHLD over. 0, or -1 with an error. */
int children_open(struct error *error);

void child_add(struct child *child, pid_t pid, void (*exited)(struct child *, int));

/* Nobody waits for its end any more. It is reaped like an orphan. */
void child_forget(struct child *child);

/* Signals its process group, or only the child if it has no group of its own. */
void child_kill_group(const struct child *child, int signal);
