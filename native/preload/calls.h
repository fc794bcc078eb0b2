/* Replacements for what CRIU calls. Like the kernel, they return -errno if they fail. */
#pragma once

#include <linux/sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* first-process.c */
long clone_cell(const struct clone_args *args, size_t size);
/* terminals.c: from here on, this CRIU restores. */
void note_restore(void);
bool restores(void);
/* limits.c */
long read_limit(pid_t pid, int resource, struct rlimit *limit);
/* areas.c: the list of a process's areas, if there is one; -1 if not. PROCESS is its directory in /proc. */
long open_listing(int process);
/* mountpoints.c: the flags with which to open PATH so that no program is told. */
int calm_flags(const char *path, int flags);
/* mountpoints.c: open_by_handle_at, with a MOUNT that may be open with O_PATH. */
long open_handle(int mount, const void *handle, int flags);
