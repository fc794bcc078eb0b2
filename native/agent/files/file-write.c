#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "stream.h"
#include "util.h"

#define OFFSET_BYTES 8
#define MAX_LINKS 40

enum { FLAG_PARENTS = 1, FLAG_APPEND = 2, FLAG_EXCLUSIVE = 4 };

struct writing {
	int fd;
	char *path;
	char *beside; /* the temporary name, NULL when writing in place */
	int64_t mode, uid, gid; /* -1: leave as it is */
	bool has_mtime;
	int64_t mtime_ns;
	bool exclusive;
};

static void fail(struct stream *stream, const struct writing *writing, const char *call)
{
	int failure = errno;

	stream_fail(stream, failure, "%s '%s': %s", call, writing->path, strerror(failure));
}

/* Appending goes to the end wherever that is by then; the offsets do not matter. */
static int write_at(const struct writing *writing, const uint8_t *bytes, size_t length, uint64_t offset)
{
	while (length) {
		ssize_t put = writing->beside ? pwrite(writing->fd, bytes, length, offset) : write(writing->fd, bytes, length);
		if (put < 0)
			return -1;
		bytes += put;
		length -= put;
		offset += put;
	}
	return 0;
}

static void data(struct stream *stream, const uint8_t *bytes, size_t length)
{
	struct writing *writing = stream->context;

	if (length < OFFSET_BYTES || load_u64(bytes) > INT64_MAX - length) {
		stream_fail(stream, EINVAL, "DATA of a file starts with its offset");
		return;
	}
	if (write_at(writing, bytes + OFFSET_BYTES, length - OFFSET_BYTES, load_u64(bytes)) < 0)
		fail(stream, writing, "write");
	else
		stream_consumed(stream, length);
}

/* Owner before mode: changing the owner clears set-user-id bits. */
static int set_attributes(const struct writing *writing)
{
	struct timespec times[2];

	modification_time(times, writing->mtime_ns);
	if ((writing->uid >= 0 || writing->gid >= 0) && fchown(writing->fd, writing->uid, writing->gid) < 0)
		return -1;
	if (writing->mode >= 0 && fchmod(writing->fd, writing->mode) < 0)
		return -1;
	return writing->has_mtime ? futimens(writing->fd, times) : 0;
}

static int put_in_place(struct writing *writing)
{
	if (!writing->beside)
		return 0;
	if (renameat2(AT_FDCWD, writing->beside, AT_FDCWD, writing->path, writing->exclusive ? RENAME_NOREPLACE : 0) < 0)
		return -1;
	free(writing->beside);
	writing->beside = NULL;
	return 0;
}

static void end(struct stream *stream, const struct fields *fields)
{
	struct writing *writing = stream->context;
	int64_t size = fields_int(fields, KEY_SIZE, -1);
	autobuffer struct buffer result = { 0 };
	struct stat status;

	if (size >= 0 && writing->beside && ftruncate(writing->fd, size) < 0)
		fail(stream, writing, "ftruncate");
	else if (set_attributes(writing) < 0)
		fail(stream, writing, "set attributes of");
	else if (put_in_place(writing) < 0)
		fail(stream, writing, "rename to");
	else if (fstat(writing->fd, &status) < 0)
		fail(stream, writing, "fstat");
	else {
		put_int(&result, KEY_SIZE, status.st_size);
		stream_result(stream, &result);
	}
}

static void writing_free(struct writing *writing)
{
	close_fd(&writing->fd);
	if (writing->beside)
		unlink(writing->beside);
	free(writing->beside);
	free(writing->path);
	free(writing);
}

static void closed(struct stream *stream)
{
	writing_free(stream->context);
}

static const struct stream_ops ops = { .data = data, .end = end, .closed = closed };

/* Where the symlink at `path` points, or NULL with errno. */
static char *link_target(const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof target - 1);

	if (length < 0)
		return NULL;
	target[length] = 0;
	if (*target == '/')
		return strdup(target);
	return format("%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, target);
}

/* A write goes to what a symlink names, and must not replace the link. */
static int follow_links(char **path, struct stat *status)
{
	for (int i = 0; i < MAX_LINKS; i++) {
		if (lstat(*path, status) < 0)
			return errno == ENOENT ? 0 : -1;
		if (!S_ISLNK(status->st_mode))
			return 1;
		char *target = link_target(*path);
		if (!target)
			return -1;
		free(*path);
		*path = target;
	}
	errno = ELOOP;
	return -1;
}

static int open_beside(struct writing *writing)
{
	static unsigned long number;
	const char *base = strrchr(writing->path, '/') + 1;

	for (int tries = 0; tries < 100; tries++) {
		writing->beside = format("%.*s.forkpoint-%lx", (int)(base - writing->path), writing->path, ++number);
		if (!writing->beside)
			return -1;
		writing->fd = open(writing->beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (writing->fd >= 0)
			return 0;
		int failure = errno;
		free(writing->beside);
		writing->beside = NULL;
		errno = failure;
		if (failure != EEXIST)
			break;
	}
	return -1;
}

/* Opens what is written to. 0, or -1 with errno. */
static int open_target(struct writing *writing, int64_t flags)
{
	struct stat status;

	if (flags & FLAG_PARENTS && make_directories(writing->path, 0755, false) < 0)
		return -1;
	int there = follow_links(&writing->path, &status);
	if (there < 0)
		return -1;
	if (there && (flags & FLAG_EXCLUSIVE || !S_ISREG(status.st_mode))) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : flags & FLAG_EXCLUSIVE ? EEXIST : EINVAL;
		return -1;
	}
	if (flags & FLAG_APPEND) {
		int mode = writing->mode < 0 ? 0644 : writing->mode;
		writing->fd = open(writing->path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
		return writing->fd < 0 ? -1 : 0;
	}
	if (open_beside(writing) < 0)
		return -1;
	if (there) {
		/* The file that takes its place is the same to everyone else. */
		writing->mode = writing->mode < 0 ? status.st_mode & 07777 : writing->mode;
		writing->uid = writing->uid < 0 ? status.st_uid : writing->uid;
		writing->gid = writing->gid < 0 ? status.st_gid : writing->gid;
	}
	if (writing->mode < 0)
		writing->mode = 0644;
	return 0;
}

void op_file_write(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	int64_t flags = fields_int(fields, KEY_FLAGS, 0);
	struct writing *writing = path ? calloc(1, sizeof *writing) : NULL;

	if (!path)
		return;
	if (!writing) {
		stream_fail(stream, ENOMEM, "cannot write '%s': out of memory", path);
		return;
	}
	writing->fd = -1;
	writing->path = take_pointer(&path);
	writing->mode = fields_int(fields, KEY_MODE, -1);
	writing->uid = fields_int(fields, KEY_UID, -1);
	writing->gid = fields_int(fields, KEY_GID, -1);
	writing->mode = writing->mode < 0 ? -1 : writing->mode & 07777;
	writing->has_mtime = fields_has(fields, KEY_MTIME_NS);
	writing->mtime_ns = fields_int(fields, KEY_MTIME_NS, 0);
	writing->exclusive = flags & FLAG_EXCLUSIVE;
	if (open_target(writing, flags) < 0) {
		fail(stream, writing, "open for writing");
		writing_free(writing);
		return;
	}
	stream_adopt(stream, &ops, writing);
}
