/* Users and groups, read from /etc/passwd and /etc/group by hand: a static
 * program has no NSS, and the environment's libc may be another one. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define MAX_GROUPS 256

struct user {
	uid_t uid;
	gid_t gid;
	char *name, *home, *shell;
	gid_t groups[MAX_GROUPS];
	int group_count;
};

/* Finds `name|uid[:group|gid]`, or the agent's own user for NULL. On failure
 * -1 with errno: ENOENT for an unknown name, EINVAL for a malformed one. */
int user_find(struct user *user, const char *spec);

void user_free(struct user *user);

/* Becomes this user: groups, gid, uid. For a child about to execute. */
int user_become(const struct user *user);

#define autouser __attribute__((cleanup(user_free)))
