/* Starting a program: a new session, clean signals, and the first error of the
 * child reported back with the step that failed. */
#pragma once

#include <sys/types.h>

#include "child.h"
#include "user.h"

struct spawn {
	char *const *argv;        /* argv[0] is found through the PATH of `environment` */
	const char *argv0;        /* what the program sees as its name, if not argv[0] */
	char *const *environment;
	const char *directory;    /* absolute */
	bool directory_asked;     /* by the caller: then no other will do */
	const struct user *user;
	int fds[3];               /* become 0, 1, 2; -1 is /dev/null */
	const char *terminal;     /* path of a pty slave: becomes the controlling terminal and every fd that is -1 */
};

/* 0 with the child's pid, or -1 with errno and in `message` what failed. */
int spawn(const struct spawn *spawn, pid_t *pid, char *message, size_t message_size);

/* Remembers the limit on descriptors that children are to have. */
void spawn_init(void);
