/* Small helpers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "shared/error.h"
#include "shared/owned.h"

static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Closes *FD if it is open, and marks it closed. */
void close_fd(int *fd);

/* The whole content of a small file, with a NUL at its end. NULL with errno if it cannot be read or has more than LIMIT
 * bytes. */
char *read_small_file(const char *path, size_t limit);

/* Replaces PATH with a file of this content in one rename; one that is a mount is written in place. 0, or -1 with an
 * error. */
int replace_small_file(const char *path, const char *content, mode_t mode, struct error *error);

/* A file's time in nanoseconds, or 0 if it does not fit into 64 bits. */
int64_t nanoseconds_of(const struct timespec *time);

/* For utimensat: sets this modification time, and leaves the access time as it is. */
void modification_time(struct timespec times[2], int64_t nanoseconds);

/* Like asprintf, but NULL if memory is short. */
char *format(const char *template, ...) __attribute__((format(printf, 1, 2)));
