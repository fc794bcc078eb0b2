/* Owned resources released at the end of their scope, and small helpers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define autofree __attribute__((cleanup(cleanup_free)))
#define autoclose __attribute__((cleanup(cleanup_close)))

/* Hands an owned fd on: the caller's variable no longer closes it. */
static inline int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

static inline void *take_pointer(void *pointer)
{
	void *taken = *(void **)pointer;
	*(void **)pointer = NULL;
	return taken;
}

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Closes *fd if it is open and marks it closed. */
void close_fd(int *fd);

/* The whole of a small file, NUL-terminated; NULL with errno when it cannot be
 * read or is larger than `limit`. */
char *read_small_file(const char *path, size_t limit);

/* Replaces `path` by a file with this content in one rename. 0, or -1 with errno. */
int replace_small_file(const char *path, const char *content, mode_t mode);

/* A file's time in nanoseconds, 0 where 64 bits do not hold it. */
int64_t nanoseconds_of(const struct timespec *time);

/* For utimensat: this modification time, the access time as it is. */
void modification_time(struct timespec times[2], int64_t nanoseconds);

/* Like asprintf, but NULL when memory is short. */
char *format(const char *template, ...) __attribute__((format(printf, 1, 2)));
