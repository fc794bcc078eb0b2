#define _GNU_SOURCE
#include "fields.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_HEADER 6

uint16_t load_u16(const uint8_t *bytes) {
  uint16_t value;
  memcpy(&value, bytes, sizeof value);
  return le16toh(value);
}

uint32_t load_u32(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return le32toh(value);
}

uint64_t load_u64(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return le64toh(value);
}

void store_u32(uint8_t *bytes, uint32_t value) {
  value = htole32(value);
  memcpy(bytes, &value, sizeof value);
}

void store_u64(uint8_t *bytes, uint64_t value) {
  value = htole64(value);
  memcpy(bytes, &value, sizeof value);
}

bool fields_next(const struct fields *fields, size_t *position, struct field *field) {
  size_t left = fields->length - *position;
  if (left < FIELD_HEADER) return false;
  const uint8_t *at = fields->bytes + *position;
  field->key = load_u16(at);
  field->length = load_u32(at + 2);
  field->bytes = at + FIELD_HEADER;
  if (field->length > left - FIELD_HEADER) return false;
  *position += FIELD_HEADER + field->length;
  return true;
}

bool fields_valid(const struct fields *fields) {
  size_t position = 0;
  struct field field;
  while (fields_next(fields, &position, &field)) continue;
  return position == fields->length;
}

static bool find(const struct fields *fields, uint16_t key, struct field *field) {
  size_t position = 0;
  while (fields_next(fields, &position, field))
    if (field->key == key) return true;
  return false;
}

bool fields_has(const struct fields *fields, uint16_t key) {
  struct field field;
  return find(fields, key, &field);
}

int64_t fields_int(const struct fields *fields, uint16_t key, int64_t otherwise) {
  struct field field;
  if (!find(fields, key, &field) || field.length != 8) return otherwise;
  return (int64_t)load_u64(field.bytes);
}

static bool has_nul(const struct field *field) { return memchr(field->bytes, 0, field->length); }

static char *copy_string(const struct field *field) {
  char *copy = malloc((size_t)field->length + 1);
  if (!copy) return NULL;
  memcpy(copy, field->bytes, field->length);
  copy[field->length] = 0;
  return copy;
}

char *fields_string(const struct fields *fields, uint16_t key) {
  struct field field;
  return find(fields, key, &field) && !has_nul(&field) ? copy_string(&field) : NULL;
}

int fields_optional(const struct fields *fields, uint16_t key, char **string, struct error *error) {
  struct field field;
  *string = NULL;
  if (!find(fields, key, &field)) return 0;
  if (has_nul(&field)) return error_refuse(error, EINVAL, "the string of field %u contains a NUL", key);
  *string = copy_string(&field);
  return *string ? 0 : error_set(error, ENOMEM, "malloc");
}

int fields_strings(const struct fields *fields, uint16_t key, char ***strings, struct error *error) {
  size_t count = 0, bytes = 0, position = 0;
  struct field field;
  while (fields_next(fields, &position, &field)) {
    if (field.key != key) continue;
    if (has_nul(&field)) return error_refuse(error, EINVAL, "a string of field %u contains a NUL", key);
    count++;
    bytes += field.length + 1;
  }
  char **vector = malloc((count + 1) * sizeof *vector + bytes);
  if (!vector) return error_set(error, ENOMEM, "malloc");
  char *text = (char *)(vector + count + 1);
  size_t i = 0;
  for (position = 0; fields_next(fields, &position, &field);) {
    if (field.key != key) continue;
    vector[i++] = text;
    memcpy(text, field.bytes, field.length);
    text[field.length] = 0;
    text += field.length + 1;
  }
  vector[count] = NULL;
  *strings = vector;
  return 0;
}

void put_bytes(struct buffer *buffer, uint16_t key, const void *bytes, size_t length) {
  uint8_t header[FIELD_HEADER] = {key & 0xff, key >> 8};
  store_u32(header + 2, length);
  buffer_append(buffer, header, sizeof header);
  buffer_append(buffer, bytes, length);
}

void put_int(struct buffer *buffer, uint16_t key, int64_t value) {
  uint8_t bytes[8];
  store_u64(bytes, (uint64_t)value);
  put_bytes(buffer, key, bytes, sizeof bytes);
}

void put_string(struct buffer *buffer, uint16_t key, const char *value) {
  put_bytes(buffer, key, value, strlen(value));
}

size_t record_begin(struct buffer *buffer) {
  buffer_append(buffer, "\0\0\0\0", 4);
  return buffer->length;
}

void record_end(struct buffer *buffer, size_t start) {
  if (!buffer->failed) store_u32(buffer_bytes(buffer) + start - 4, buffer->length - start);
}
