/* What every program inside starts with: environment variables, directory and login shell, as `configure` set them. */
#pragma once

#include "fields.h"
#include "shared/error.h"
#include "user.h"

struct stream;

enum variable_names { NAMES_ANY, NAMES_IDENTIFIERS };

/* Adds a variable of the image, as NAME=value, which is kept. 0, or -1 with an error. */
int environment_add(char *assignment, struct error *error);

/* The variables for a program of this user: those of its user, of the image, the configured ones, then OWN. Later ones
 * win.
 * NULL with an error. To be freed with free_vector. */
char **environment_build(const struct user *user, char *const *own, const char *terminal_type, struct error *error);

/* Where a program starts: ASKED, or else the configured directory, the user's home, or the root. */
const char *environment_start_directory(const struct user *user, const char *asked);

/* The configured login shell, or NULL for that of the user. */
const char *environment_shell(void);

void op_configure(struct stream *stream, const struct fields *fields);

/* Fails unless all of them are NAME=value. A shell can only set variables whose names are identifiers; programs can
 * have others. 0, or -1 with an error. */
int check_variables(char *const *variables, enum variable_names names, struct error *error);

void free_vector(char ***vector);
#define autovector __attribute__((cleanup(free_vector)))
