/* Starts the first process of a cell in its place from the first moment on.
 *
 * In its cgroups: moving it there later takes the kernel 5 to 15 ms, because it waits for all CPUs. A thread can move
 * itself without that cost, and its children start where it is.
 *
 * In a user namespace that is owned by the cell's own root: the kernel counts pending signals, message queues, locked
 * memory and watches per user. In the namespaces above they count for its owner, up to the owner's limits. So neither
 * the host's root nor a neighbour can run out of them. */
#pragma once

#include <linux/sched.h>
#include <stddef.h>
#include <sys/types.h>

#define MOST_GROUPS 8

struct doorway {
  const char *enter; /* v1: the file `tasks` of the group; v2: its directory */
  const char *leave; /* v1: the file `tasks` of the caller's own group; v2: NULL */
};

struct birth {
  uid_t owner;  /* of its user namespace */
  size_t count; /* of groups */
  const struct doorway *groups;
};

typedef long clone_call(struct clone_args *args, size_t size);

/* Like clone3, for a caller that is root and has a single thread. SIZE is the size of ARGS that the caller knows. If
 * the child cannot start in its groups, it starts in the caller's, and *IS_THERE is 0. */
long clone_into(const struct birth *birth, const struct clone_args *args, size_t size, clone_call *clone3,
                int *is_there);
