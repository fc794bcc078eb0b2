#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define FLAG_PARENTS 1

static int make_directory(const char *path, mode_t mode)
{
	struct stat status;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -1;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return 0;
	errno = ENOTDIR;
	return -1;
}

int make_directories(const char *path, mode_t mode, bool last)
{
	autofree char *copy = strdup(path);

	if (!copy)
		return -1;
	for (char *at = copy + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		if (make_directory(copy, 0755) < 0)
			return -1;
		*at = '/';
	}
	return last ? make_directory(path, mode) : 0;
}

void op_file_mkdir(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	mode_t mode = fields_int(fields, KEY_MODE, 0755) & 07777;

	if (!path)
		return;
	bool parents = fields_int(fields, KEY_FLAGS, 0) & FLAG_PARENTS;
	int made = parents ? make_directories(path, mode, true) : mkdir(path, mode);
	/* mkdir applies the umask to the mode. */
	if (made < 0 || (fields_has(fields, KEY_MODE) && chmod(path, mode) < 0))
		stream_fail(stream, errno, "mkdir '%s': %s", path, strerror(errno));
	else
		stream_done(stream);
}

void op_file_rename(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	autofree char *target = path ? path_field(stream, fields, KEY_TARGET) : NULL;

	if (!target)
		return;
	if (rename(path, target) < 0)
		stream_fail(stream, errno, "rename '%s' to '%s': %s", path, target, strerror(errno));
	else
		stream_done(stream);
}

void op_file_symlink(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	autofree char *target = fields_string(fields, KEY_TARGET);

	if (!path)
		return;
	if (!target || !*target)
		stream_fail(stream, EINVAL, "symlink '%s' needs a target", path);
	else if (symlink(target, path) < 0)
		stream_fail(stream, errno, "symlink '%s': %s", path, strerror(errno));
	else
		stream_done(stream);
}
