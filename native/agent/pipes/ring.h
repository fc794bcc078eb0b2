/* The last bytes of an output, addressed by their offset in all of it. */
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
  uint64_t start;     /* offset of the oldest byte in the ring */
  uint64_t keep_from; /* bytes before it may be overwritten */
  uint64_t end;       /* offset after the newest byte, which is the total so far */
};

/* Space for at most WANTED new bytes, in up to two pieces. Bytes from keep_from on are not overwritten. Returns the
 * total, which is 0 if the ring is full. */
size_t ring_space(struct ring *ring, size_t wanted, struct iovec space[2]);

/* LENGTH bytes of the space were written. */
void ring_added(struct ring *ring, size_t length);

/* Up to WANTED bytes from OFFSET on, in up to two pieces. Returns the total. */
size_t ring_view(const struct ring *ring, uint64_t offset, size_t wanted, struct iovec view[2]);

/* Keeps at most the last CAPACITY bytes, which is a power of two. */
void ring_shrink(struct ring *ring, size_t capacity);

void ring_free(struct ring *ring);
