/* What every program inside is started with: its environment variables,
 * directory and login shell, as `configure` set them. */
#pragma once

#include "fields.h"
#include "user.h"

struct stream;

enum variable_names { NAMES_ANY, NAMES_IDENTIFIERS };

/* The variables for a program of this user: base, then configured, then the
 * call's own; later ones win. NULL with errno ENOMEM. Freed with free_vector. */
char **environment_build(const struct user *user, char *const *own, const char *terminal_type);

/* Where a program starts: in `asked`, else in the configured directory, else in
 * the user's home, else in the root. */
const char *environment_start_directory(const struct user *user, const char *asked);

/* The configured login shell, or NULL: then it is the user's. */
const char *environment_shell(void);

void op_configure(struct stream *stream, const struct fields *fields);

/* The first of them that is not K=V, or NULL. A shell can only set variables
 * whose names are identifiers; programs can be given others. */
const char *first_invalid_variable(char *const *variables, enum variable_names names);

void free_vector(char ***vector);
#define autovector __attribute__((cleanup(free_vector)))
