/* Users and groups, read from /etc/passwd and /etc/group directly: a static program has no NSS, and the environment may
 * have another libc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "shared/error.h"

#define MAX_GROUPS 256

struct user {
  uid_t uid;
  gid_t gid;
  char *name, *home, *shell;
  gid_t groups[MAX_GROUPS];
  int group_count;
};

/* Whom NULL stands for in user_find, instead of the agent's own user. NAME is kept. */
void user_set_default(const char *name);

/* Finds `name|uid[:group|gid]`, or the default user for NULL. 0, or -1 with an error: ENOENT for an unknown name,
 * EINVAL for a malformed one. */
int user_find(struct user *user, const char *spec, struct error *error);

void user_free(struct user *user);

/* Becomes this user: groups, gid, uid. Called by a child that is about to execute a program. 0, or -1 with errno. */
int user_become(const struct user *user);

#define autouser __attribute__((cleanup(user_free)))
