/* Starts a program: a new session, default signal handling, and the first error of the child with the step that
 * failed. */
#pragma once

#include <sys/types.h>

#include "child.h"
#include "shared/error.h"
#include "user.h"

struct spawn {
  char *const *argv; /* argv[0] is looked up in the PATH of `environment` */
  const char *argv0; /* the name that the program sees, if it is not argv[0] */
  char *const *environment;
  const char *directory; /* absolute */
  bool directory_asked;  /* the caller named it, so no other will do */
  const struct user *user;
  int fds[3];           /* become 0, 1 and 2; -1 means /dev/null */
  const char *terminal; /* path of a pty slave: the controlling terminal, and every descriptor that is -1 */
};

/* 0 with the pid of the child, or -1 with an error. */
int spawn(const struct spawn *spawn, pid_t *pid, struct error *error);

/* Remembers the limit on descriptors that children get. */
void spawn_init(void);
