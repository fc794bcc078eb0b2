/* Children of PID 1: those it started, and orphans, which it only reaps. */
#pragma once

#include <sys/types.h>

#include "list.h"

struct child {
	pid_t pid; /* 0 once it is reaped: the number may then belong to another */
	struct list link;
	void (*exited)(struct child *child, int wait_status);
};

/* Takes SIGCHLD over. 0, or -1 with errno. */
int children_open(void);

void child_add(struct child *child, pid_t pid, void (*exited)(struct child *, int));

/* Its end is no longer of interest; it is reaped as an orphan is. */
void child_forget(struct child *child);

/* Signals its process group, or the child alone where it has none of its own. */
void child_kill_group(const struct child *child, int signal);
