/* The last bytes of an output, addressed by their offset in the whole of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define RING_FIRST 4096
#define RING_MAX (1 << 20)

struct ring {
	uint8_t *memory;
	size_t capacity;    /* a power of two, grown from RING_FIRST to RING_MAX as needed */
	uint64_t start;     /* offset of the oldest byte held */
	uint64_t keep_from; /* bytes before it may be overwritten */
	uint64_t end;       /* offset after the newest byte: the total produced */
};

/* Space for new bytes, as up to two pieces: at most `wanted` bytes, less when
 * bytes from keep_from on would be overwritten. Returns the total, 0 when full. */
size_t ring_space(struct ring *ring, size_t wanted, struct iovec space[2]);

/* Declares `length` bytes of the space written. */
void ring_added(struct ring *ring, size_t length);

/* Up to `wanted` bytes held at `offset`, as up to two pieces. Returns the total. */
size_t ring_view(const struct ring *ring, uint64_t offset, size_t wanted, struct iovec view[2]);

void ring_free(struct ring *ring);
