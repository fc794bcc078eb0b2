/* Replacements for what CRIU calls. Like the kernel, they return -errno if they fail. */
#pragma once

#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* first-process.c */
long clone_cell(const struct clone_args *args, size_t size);
/* terminals.c: from here on, this CRIU restores. */
void note_restore(void);
bool restores(void);
/* stopped.c: INFO is why a process that CRIU traces does not run. */
void note_stop(pid_t pid, const siginfo_t *info);
/* limits.c */
long read_limit(pid_t pid, int resource, struct rlimit *limit);
/* areas.c: the list of a process's areas, if there is one; -1 if not. PROCESS is its directory in /proc. */
long open_listing(int process);
/* mountpoints.c: the flags with which to open PATH so that no program is told. */
int calm_flags(const char *path, int flags);
/* mountpoints.c: the flags with which to open a watched file. */
int watched_flags(int directory, int flags);
/* mountpoints.c: open_by_handle_at, with a MOUNT that may be open with O_PATH. In a copy, the copy's own file. */
long open_handle(int mount, const void *handle, int flags);
/* own-terminal.c: FD is what was opened as PATH; remembers the root of the cell. */
void note_root(const char *path, int fd);
int root_of_cell(void);
/* The name of the terminal that PATH leads to, if it is open as /dev/tty; 0 if it is not. */
ssize_t name_of_own_terminal(const char *path, char *target, size_t size);
/* pipes.c: what CRIU gets if setting the size of the pipe FD to WANTED had RESULT. */
long note_pipe_size(int fd, long wanted, long result);
