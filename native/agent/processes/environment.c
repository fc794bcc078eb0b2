#define _GNU_SOURCE
#include "environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stream.h"
#include "util.h"

#define SEARCH_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static char **image_variables;
static char **configured_variables;
static char *configured_directory;
static char *configured_shell;

void free_vector(char ***vector) {
  for (char **item = *vector; item && *item; item++) free(*item);
  free(*vector);
  *vector = NULL;
}

static bool variable_valid(const char *variable, enum variable_names names) {
  const char *at = variable;
  if (names == NAMES_ANY) return strcspn(variable, "=") > 0 && strchr(variable, '=');
  if (!isalpha((unsigned char)*at) && *at != '_') return false;
  while (isalnum((unsigned char)*at) || *at == '_') at++;
  return *at == '=';
}

int check_variables(char *const *variables, enum variable_names names, struct error *error) {
  for (; *variables; variables++)
    if (!variable_valid(*variables, names))
      return error_refuse(error, EINVAL, "env '%.100s' is not NAME=value", *variables);
  return 0;
}

static size_t count(char *const *vector) {
  size_t n = 0;
  while (vector && vector[n]) n++;
  return n;
}

/* Puts an assignment into the vector, in place of one with the same name. Takes the assignment over; it is NULL if
 * memory was short. The caller has left room. */
static int set(char **vector, char *assignment) {
  if (!assignment) return -1;
  size_t name = strcspn(assignment, "=") + 1, i = 0;
  for (; vector[i]; i++)
    if (!strncmp(vector[i], assignment, name)) break;
  free(vector[i]);
  vector[i] = assignment;
  return 0;
}

static int set_all(char **vector, char *const *assignments) {
  for (; assignments && *assignments; assignments++)
    if (set(vector, strdup(*assignments)) < 0) return -1;
  return 0;
}

int environment_add(char *assignment, struct error *error) {
  size_t used = count(image_variables);
  if (!variable_valid(assignment, NAMES_ANY))
    return error_refuse(error, EINVAL, "env '%.100s' is not NAME=value", assignment);
  char **grown = realloc(image_variables, (used + 2) * sizeof *grown);
  if (!grown) return error_set(error, ENOMEM, "malloc of an environment");
  image_variables = grown;
  grown[used] = assignment;
  grown[used + 1] = NULL;
  return 0;
}

char **environment_build(const struct user *user, char *const *own, const char *terminal_type, struct error *error) {
  autovector char **vector =
      calloc(8 + count(image_variables) + count(configured_variables) + count(own), sizeof *vector);
  if (!vector || set(vector, format("PATH=%s", SEARCH_PATH)) < 0 || set(vector, format("HOME=%s", user->home)) < 0 ||
      set(vector, format("USER=%s", user->name)) < 0 || set(vector, format("LOGNAME=%s", user->name)) < 0 ||
      set(vector, format("SHELL=%s", configured_shell ? configured_shell : user->shell)) < 0 ||
      set(vector, strdup("LANG=C.UTF-8")) < 0 || (terminal_type && set(vector, format("TERM=%s", terminal_type)) < 0) ||
      set_all(vector, image_variables) < 0 || set_all(vector, configured_variables) < 0 || set_all(vector, own) < 0)
    return error_set(error, ENOMEM, "malloc of an environment"), NULL;
  return take_pointer(&vector);
}

static bool is_directory(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

const char *environment_start_directory(const struct user *user, const char *asked) {
  if (asked) return asked;
  if (configured_directory && is_directory(configured_directory)) return configured_directory;
  return is_directory(user->home) ? user->home : "/";
}

const char *environment_shell(void) { return configured_shell; }

static int check_absolute(const char *what, const char *path, struct error *error) {
  if (!path || *path == '/') return 0;
  return error_refuse(error, EINVAL, "configure: %s '%.400s' is not an absolute path", what, path);
}

void op_configure(struct stream *stream, const struct fields *fields) {
  autofree char **variables = NULL;
  autofree char *directory = NULL, *shell = NULL, *user = NULL;
  struct error error;
  if (fields_strings(fields, KEY_ENV, &variables, &error) < 0 || check_variables(variables, NAMES_ANY, &error) < 0 ||
      fields_optional(fields, KEY_CWD, &directory, &error) < 0 || check_absolute("cwd", directory, &error) < 0 ||
      fields_optional(fields, KEY_SHELL, &shell, &error) < 0 || check_absolute("shell", shell, &error) < 0 ||
      fields_optional(fields, KEY_USER, &user, &error) < 0) {
    stream_fail(stream, &error);
    return;
  }
  free(configured_variables);
  free(configured_directory);
  free(configured_shell);
  configured_variables = take_pointer(&variables);
  configured_directory = take_pointer(&directory);
  configured_shell = take_pointer(&shell);
  if (user) user_set_default(take_pointer(&user));
  stream_done(stream);
}
