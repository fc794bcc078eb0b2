#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define FLAG_NO_FOLLOW 1

enum { TYPE_FILE = 1, TYPE_DIRECTORY, TYPE_SYMLINK, TYPE_OTHER };

char *path_field(struct stream *stream, const struct fields *fields, uint16_t key)
{
	autofree char *path = fields_string(fields, key);

	if (path && *path == '/')
		return take_pointer(&path);
	stream_fail(stream, EINVAL, "path '%.200s' is not an absolute path", path ? path : "");
	return NULL;
}

static int type_of(mode_t mode)
{
	return S_ISREG(mode) ? TYPE_FILE : S_ISDIR(mode) ? TYPE_DIRECTORY : S_ISLNK(mode) ? TYPE_SYMLINK : TYPE_OTHER;
}

void put_status(struct buffer *fields, int directory, const char *name, const struct stat *status)
{
	char target[4096];

	put_int(fields, KEY_TYPE, type_of(status->st_mode));
	put_int(fields, KEY_MODE, status->st_mode & 07777);
	put_int(fields, KEY_SIZE, status->st_size);
	put_int(fields, KEY_MTIME_NS, nanoseconds_of(&status->st_mtim));
	put_int(fields, KEY_UID, status->st_uid);
	put_int(fields, KEY_GID, status->st_gid);
	put_int(fields, KEY_BLOCKS, status->st_blocks);
	put_int(fields, KEY_NLINK, status->st_nlink);
	if (!S_ISLNK(status->st_mode))
		return;
	ssize_t length = readlinkat(directory, name, target, sizeof target);
	if (length >= 0)
		put_bytes(fields, KEY_TARGET, target, length);
}

void op_file_stat(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	autobuffer struct buffer result = { 0 };
	struct stat status;

	if (!path)
		return;
	int flags = fields_int(fields, KEY_FLAGS, 0) & FLAG_NO_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
	if (fstatat(AT_FDCWD, path, &status, flags) < 0) {
		stream_fail(stream, errno, "stat '%s': %s", path, strerror(errno));
		return;
	}
	put_status(&result, AT_FDCWD, path, &status);
	stream_result(stream, &result);
}

static int change_mode(int fd, mode_t mode)
{
	char link[64];
	struct stat status;

	/* An O_PATH descriptor takes no fchmod; through /proc the kernel follows
	 * the descriptor, never a symlink that took the name meanwhile. */
	if (fstat(fd, &status) < 0)
		return -1;
	if (S_ISLNK(status.st_mode)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return chmod(link, mode);
}

static int change_time(const char *path, int64_t mtime_ns)
{
	struct timespec times[2];

	modification_time(times, mtime_ns);
	return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

/* 0, or -1 with errno and the name of the call. The owner comes first: changing
 * it clears the set-user-id bits of the mode. */
static int change(int fd, const char *path, const struct fields *fields, const char **failed)
{
	uid_t uid = fields_int(fields, KEY_UID, -1);
	gid_t gid = fields_int(fields, KEY_GID, -1);

	*failed = "chown";
	if ((uid != (uid_t)-1 || gid != (gid_t)-1) && fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0)
		return -1;
	*failed = "chmod";
	if (fields_has(fields, KEY_MODE) && change_mode(fd, fields_int(fields, KEY_MODE, 0) & 07777) < 0)
		return -1;
	*failed = "utimensat";
	if (fields_has(fields, KEY_MTIME_NS) && change_time(path, fields_int(fields, KEY_MTIME_NS, 0)) < 0)
		return -1;
	return 0;
}

void op_file_setattr(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	const char *failed = "open";

	if (!path)
		return;
	autoclose int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || change(fd, path, fields, &failed) < 0)
		stream_fail(stream, errno, "%s '%s': %s", failed, path, strerror(errno));
	else
		stream_done(stream);
}
