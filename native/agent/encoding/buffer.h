/* A growable queue of bytes, appended at the end and consumed from the front. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
  uint8_t *memory;
  size_t capacity, start, length;
  bool failed; /* an append found no memory, so the content must not be used */
};

static inline uint8_t *buffer_bytes(const struct buffer *buffer) { return buffer->memory + buffer->start; }

/* Room for LENGTH more bytes at the end, or NULL. To be committed with buffer_added. */
uint8_t *buffer_reserve(struct buffer *buffer, size_t length);
static inline void buffer_added(struct buffer *buffer, size_t length) { buffer->length += length; }

bool buffer_append(struct buffer *buffer, const void *bytes, size_t length);
void buffer_consume(struct buffer *buffer, size_t length);
void buffer_free(struct buffer *buffer);

#define autobuffer __attribute__((cleanup(buffer_free)))
