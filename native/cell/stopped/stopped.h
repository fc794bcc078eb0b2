/* The threads of a cell, held still by this process, which traces them. They can then be made to do something, and
 * continue as if nothing had happened.
 *
 * If this process ends at any moment, even by SIGKILL, the kernel lets all of them continue, and none of them is
 * wrong: whatever is changed in a thread takes effect with one change of its registers, and code that it is made to
 * run gives it back its own registers and signal mask by itself (see stub.c). So there is no PTRACE_O_EXITKILL, except
 * for a moment where that is impossible (see `tie`). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "registers.h"
#include "shared/error.h"

struct thread {
  pid_t id;        /* on the host */
  size_t process;  /* index in the group */
  bool is_stopped; /* false: a zombie, traced by another, or in an uninterruptible wait; leave it alone */
};

struct process {
  pid_t pid;           /* on the host */
  size_t first, count; /* its threads; the first is the leader unless that has ended */
  uint64_t code;       /* see stub.c */
  bool has_no_code;    /* there is no room for it, or it is not a program that we can handle */
};

struct group {
  const char *cgroup;
  struct process *processes;
  struct thread *threads;
  size_t process_count, thread_count;
};

/* Stops every thread of a frozen cell, and thaws it. A thread that does not stop in time stays as it is. */
void stop_group(struct group *group, const char *cgroup);
/* Stops one thread of a process that runs; the group has only this one. Also if it is false: `let_go`. */
bool stop_one(struct group *group, pid_t pid);
/* Lets all continue. The group can no longer be used. */
void let_go(struct group *group);
/* For the moments in which the process of a stopped thread would be wrong without us: if we end, so does it. */
bool tie(pid_t thread);
void untie(pid_t thread);

/* still.c */
/* Whether no thread runs. One that does, in whatever process, can write memory that a dump already has. */
bool stands_still(const struct group *group);
/* A thread of the process that can make calls for us. NULL if none is stopped. */
const struct thread *stopped_thread(const struct group *group, const struct process *process);

/* Has a stopped thread make one system call that does not wait, unseen by the cell's own filters. -1 with an error if
 * it could not be made; else *RESULT is what the kernel returned, or minus errno. Pointers in ARGUMENTS are addresses
 * of the process.
 */
int inject_syscall(struct group *group, const struct thread *thread, long number, const uint64_t arguments[6],
                   long *result, struct error *error);

/* memory.c: -1 with an error if not all of it was copied. */
int read_memory(pid_t pid, uint64_t at, void *own, size_t size, struct error *error);
int write_memory(pid_t pid, uint64_t at, const void *own, size_t size, struct error *error);
/* The range of the page that the kernel maps into every process. False if it has none. */
bool find_vdso(pid_t pid, uint64_t *start, uint64_t *end);
