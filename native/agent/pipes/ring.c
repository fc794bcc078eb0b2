#define _GNU_SOURCE
#include "ring.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

static size_t slices(const struct ring *ring, uint64_t offset, size_t length, struct iovec piece[2]) {
  piece[0] = piece[1] = (struct iovec){0};
  if (!length) return 0;
  size_t at = offset & (ring->capacity - 1);
  size_t first = min_size(length, ring->capacity - at);

  piece[0] = (struct iovec){ring->memory + at, first};
  piece[1] = (struct iovec){ring->memory, length - first};
  return length;
}

static void copy_in(struct ring *ring, uint64_t offset, const struct iovec *from) {
  struct iovec to[2];
  slices(ring, offset, from->iov_len, to);
  if (to[0].iov_len) memcpy(to[0].iov_base, from->iov_base, to[0].iov_len);
  if (to[1].iov_len) memcpy(to[1].iov_base, (uint8_t *)from->iov_base + to[0].iov_len, to[1].iov_len);
}

/* Moves the last bytes into other memory, to the places that belong to their offsets. Without memory, the ring stays as
 * it is. */
static void move(struct ring *ring, size_t capacity) {
  struct ring moved = *ring;
  struct iovec piece[2];
  moved.capacity = capacity;
  moved.memory = malloc(capacity);
  if (!moved.memory) return;
  if (moved.end - moved.start > capacity) moved.start = moved.end - capacity;
  slices(ring, moved.start, moved.end - moved.start, piece);
  copy_in(&moved, moved.start, &piece[0]);
  copy_in(&moved, moved.start + piece[0].iov_len, &piece[1]);
  free(ring->memory);
  *ring = moved;
}

size_t ring_space(struct ring *ring, size_t wanted, struct iovec space[2]) {
  while (ring->capacity < RING_MAX && ring->end - ring->start + wanted > ring->capacity) {
    size_t before = ring->capacity;
    move(ring, before ? before * 2 : RING_FIRST);
    if (ring->capacity == before) break;
  }
  size_t kept = ring->end - (ring->keep_from > ring->start ? ring->keep_from : ring->start);
  return slices(ring, ring->end, min_size(wanted, ring->capacity - kept), space);
}

void ring_added(struct ring *ring, size_t length) {
  ring->end += length;
  if (ring->end - ring->start > ring->capacity) ring->start = ring->end - ring->capacity;
}

size_t ring_view(const struct ring *ring, uint64_t offset, size_t wanted, struct iovec view[2]) {
  return slices(ring, offset, min_size(wanted, ring->end - offset), view);
}

void ring_shrink(struct ring *ring, size_t capacity) {
  if (ring->capacity > capacity) move(ring, capacity);
}

void ring_free(struct ring *ring) {
  free(ring->memory);
  ring->memory = NULL;
  ring->capacity = 0;
  ring->start = ring->keep_from = ring->end;
}
