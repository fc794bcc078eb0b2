#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "files.h"
#include "stream.h"
#include "util.h"

enum { FLAG_RECURSIVE = 1, FLAG_MISSING_OK = 2 };

static int remove_tree(int parent, const char *name);

static int remove_entries(int fd)
{
	DIR *directory = fdopendir(fd);
	struct dirent *entry;
	int failure = 0;

	if (!directory) {
		failure = errno;
		close(fd);
		errno = failure;
		return -1;
	}
	while (!failure && (entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    remove_tree(dirfd(directory), entry->d_name) < 0)
			failure = errno;
	closedir(directory);
	errno = failure;
	return failure ? -1 : 0;
}

/* Every step goes through the parent's descriptor and follows no symlink, so
 * nothing outside the tree is reached whatever is moved about meanwhile. */
static int remove_tree(int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (remove_entries(fd) < 0)
		return -1;
	return unlinkat(parent, name, AT_REMOVEDIR);
}

struct removal {
	struct child child;
	struct stream *stream;
	char *path;
};

static void removal_ended(struct child *child, int wait_status)
{
	struct removal *removal = container_of(child, struct removal, child);
	int failure = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EINTR;

	if (failure)
		stream_fail(removal->stream, failure, "remove '%s': %s", removal->path, strerror(failure));
	else
		stream_done(removal->stream);
}

static void closed(struct stream *stream)
{
	struct removal *removal = stream->context;

	if (removal->child.pid)
		kill(removal->child.pid, SIGKILL);
	child_forget(&removal->child);
	free(removal->path);
	free(removal);
}

static const struct stream_ops ops = { .closed = closed };

/* A large tree takes long: a child removes it, while the agent serves others.
 * Its exit status is the errno. */
static void remove_in_child(struct stream *stream, char *path)
{
	struct removal *removal = calloc(1, sizeof *removal);
	pid_t pid = removal ? fork() : -1;

	if (pid == 0) {
		/* A copy of a connection or pipe held here would keep its end from being seen. */
		close_range(3, ~0U, 0);
		_exit(remove_tree(AT_FDCWD, path) < 0 ? errno : 0);
	}
	if (pid < 0) {
		stream_fail(stream, errno, "remove '%s': %s", path, strerror(errno));
		free(removal);
		free(path);
		return;
	}
	removal->stream = stream;
	removal->path = path;
	list_init(&removal->child.link);
	child_add(&removal->child, pid, removal_ended);
	stream_adopt(stream, &ops, removal);
}

void op_file_remove(struct stream *stream, const struct fields *fields)
{
	autofree char *path = path_field(stream, fields, KEY_PATH);
	int64_t flags = fields_int(fields, KEY_FLAGS, 0);
	struct stat status;

	if (!path)
		return;
	bool there = lstat(path, &status) == 0;
	if (!there && errno == ENOENT && flags & FLAG_MISSING_OK)
		stream_done(stream);
	else if (!there)
		stream_fail(stream, errno, "remove '%s': %s", path, strerror(errno));
	else if (S_ISDIR(status.st_mode) && flags & FLAG_RECURSIVE)
		remove_in_child(stream, take_pointer(&path));
	else if ((S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path)) < 0)
		stream_fail(stream, errno, "remove '%s': %s", path, strerror(errno));
	else
		stream_done(stream);
}
