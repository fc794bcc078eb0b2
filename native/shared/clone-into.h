/* The first process of a cell, as it should be from its first moment on.
 *
 * In its cgroups: to move it there afterwards takes the kernel 5 to 15 ms, as it waits for all CPUs; a
 * process may go there itself, and its children are where it is, at no such cost.
 *
 * In a user namespace that its own root has made: the kernel counts pending signals, message queues, locked
 * memory and watches per user, in a namespace and in all above it, where they count for its maker, up to the
 * limits that he had. So neither the host's root nor a neighbour runs out of them. */
#pragma once

#include <linux/sched.h>
#include <stddef.h>
#include <sys/types.h>

#define MOST_GROUPS 8

struct doorway {
  const char *enter; /* v1: the file `tasks`; v2: the directory */
  const char *leave; /* v1: the file `tasks` of the caller's own group; v2: NULL */
};

struct birth {
  uid_t owner;  /* of its user namespace */
  size_t count; /* of groups */
  const struct doorway *groups;
};

typedef long clone_call(struct clone_args *args, size_t size);

/* Like clone3 itself, for a caller with a single thread who is root. ARGS are of SIZE bytes, as the caller
 * knows them. Where it cannot be in its groups, the child is in the caller's, and IS_THERE says so. */
long clone_into(const struct birth *birth, const struct clone_args *args, size_t size, clone_call *clone3,
                int *is_there);
