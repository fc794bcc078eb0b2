#define _GNU_SOURCE
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#define SMALLEST 256

/* An empty buffer with more than this gives its memory back: all memory of the agent is written into every snapshot. */
#define KEEP_EMPTY 16384

uint8_t *buffer_reserve(struct buffer *buffer, size_t length) {
  if (buffer->failed) return NULL;
  if (buffer->start + buffer->length + length > buffer->capacity && buffer->start) {
    memmove(buffer->memory, buffer_bytes(buffer), buffer->length);
    buffer->start = 0;
  }
  if (buffer->length + length > buffer->capacity) {
    size_t capacity = buffer->capacity ? buffer->capacity : SMALLEST;
    while (capacity < buffer->length + length) capacity *= 2;
    uint8_t *grown = realloc(buffer->memory, capacity);
    if (!grown) {
      buffer->failed = true;
      return NULL;
    }
    buffer->memory = grown;
    buffer->capacity = capacity;
  }
  return buffer_bytes(buffer) + buffer->length;
}

bool buffer_append(struct buffer *buffer, const void *bytes, size_t length) {
  if (!length) return !buffer->failed;
  uint8_t *room = buffer_reserve(buffer, length);
  if (!room) return false;
  memcpy(room, bytes, length);
  buffer->length += length;
  return true;
}

void buffer_consume(struct buffer *buffer, size_t length) {
  buffer->start += length;
  buffer->length -= length;
  if (buffer->length) return;
  buffer->start = 0;
  if (buffer->capacity > KEEP_EMPTY) buffer_free(buffer);
}

void buffer_free(struct buffer *buffer) {
  free(buffer->memory);
  *buffer = (struct buffer){0};
}
