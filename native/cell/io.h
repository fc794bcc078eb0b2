/* Reads and writes that must not stop halfway. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MOST_BYTES (16 << 20) /* in one request or answer of the keeper; also in keeper.ts */

/* False with errno if a write failed. */
bool write_all(int fd, const void *bytes, size_t length);
/* False if the input ended early or could not be read. */
bool read_all(int fd, void *to, size_t length);
