/* A process that is in other cgroups from its first moment. To move it there afterwards takes the
 * kernel 5 to 15 ms, as it waits for all CPUs; a process may go there itself, and its children are
 * where it is, at no such cost. */
#pragma once

#include <linux/sched.h>
#include <stddef.h>

#define MOST_GROUPS 8

struct doorway {
  const char *enter; /* v1: the file `tasks`; v2: the directory */
  const char *leave; /* v1: the file `tasks` of the caller's own group; v2: NULL */
};

typedef long clone_call(struct clone_args *args, size_t size);

/* Like clone3 itself, for a caller with a single thread. Where it cannot be done, the child is in the
 * caller's cgroups. ARGS are of SIZE bytes, as the caller knows them. */
long clone_into(const struct doorway *groups, size_t count, const struct clone_args *args, size_t size,
                clone_call *clone3);
