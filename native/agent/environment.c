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

static char **configured_variables;
static char *configured_directory;
static char *configured_shell;

void free_vector(char ***vector)
{
	for (char **item = *vector; item && *item; item++)
		free(*item);
	free(*vector);
	*vector = NULL;
}

static bool variable_valid(const char *variable, enum variable_names names)
{
	const char *at = variable;

	if (names == NAMES_ANY)
		return strcspn(variable, "=") > 0 && strchr(variable, '=');
	if (!isalpha((unsigned char)*at) && *at != '_')
		return false;
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return *at == '=';
}

const char *first_invalid_variable(char *const *variables, enum variable_names names)
{
	for (; *variables; variables++)
		if (!variable_valid(*variables, names))
			return *variables;
	return NULL;
}

static size_t count(char *const *vector)
{
	size_t n = 0;

	while (vector && vector[n])
		n++;
	return n;
}

/* Sets an assignment (owned, NULL if memory was short) in the vector, replacing
 * one of the same name. The caller left room. */
static int set(char **vector, char *assignment)
{
	if (!assignment)
		return -1;
	size_t name = strcspn(assignment, "=") + 1, i = 0;
	for (; vector[i]; i++)
		if (!strncmp(vector[i], assignment, name))
			break;
	free(vector[i]);
	vector[i] = assignment;
	return 0;
}

static int set_all(char **vector, char *const *assignments)
{
	for (; assignments && *assignments; assignments++)
		if (set(vector, strdup(*assignments)) < 0)
			return -1;
	return 0;
}

char **environment_build(const struct user *user, char *const *own, const char *terminal_type)
{
	autovector char **vector = calloc(8 + count(configured_variables) + count(own), sizeof *vector);

	if (!vector || set(vector, format("PATH=%s", SEARCH_PATH)) < 0 ||
	    set(vector, format("HOME=%s", user->home)) < 0 || set(vector, format("USER=%s", user->name)) < 0 ||
	    set(vector, format("LOGNAME=%s", user->name)) < 0 ||
	    set(vector, format("SHELL=%s", configured_shell ? configured_shell : user->shell)) < 0 ||
	    set(vector, strdup("LANG=C.UTF-8")) < 0 ||
	    (terminal_type && set(vector, format("TERM=%s", terminal_type)) < 0) ||
	    set_all(vector, configured_variables) < 0 || set_all(vector, own) < 0)
		return NULL;
	return take_pointer(&vector);
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

const char *environment_start_directory(const struct user *user, const char *asked)
{
	if (asked)
		return asked;
	if (configured_directory && is_directory(configured_directory))
		return configured_directory;
	return is_directory(user->home) ? user->home : "/";
}

const char *environment_shell(void)
{
	return configured_shell;
}

void op_configure(struct stream *stream, const struct fields *fields)
{
	char **variables = fields_strings(fields, KEY_ENV);
	if (!variables) {
		stream_fail(stream, errno, "configure: env: %s", strerror(errno));
		return;
	}
	const char *invalid = first_invalid_variable(variables, NAMES_ANY);
	if (invalid) {
		stream_fail(stream, EINVAL, "configure: env '%.100s' is not NAME=value", invalid);
		free(variables);
		return;
	}
	char *directory = fields_string(fields, KEY_CWD);
	char *shell = fields_string(fields, KEY_SHELL);
	if ((directory && *directory != '/') || (shell && *shell != '/')) {
		stream_fail(stream, EINVAL, "configure: cwd and shell must be absolute paths");
		free(variables);
		free(directory);
		free(shell);
		return;
	}
	free(configured_variables);
	free(configured_directory);
	free(configured_shell);
	configured_variables = variables;
	configured_directory = directory;
	configured_shell = shell;
	stream_done(stream);
}
