/* Fields of a frame: repeated `u16 key, u32 length, bytes`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "protocol.h"
#include "shared/error.h"

struct fields {
  const uint8_t *bytes;
  size_t length;
};

struct field {
  uint16_t key;
  uint32_t length;
  const uint8_t *bytes;
};

/* Reads the field at *POSITION and moves on. False at the end, or where fields are malformed. */
bool fields_next(const struct fields *fields, size_t *position, struct field *field);

/* Whether the bytes are a whole number of fields. */
bool fields_valid(const struct fields *fields);

bool fields_has(const struct fields *fields, uint16_t key);

/* The integer of this key, or OTHERWISE. */
int64_t fields_int(const struct fields *fields, uint16_t key, int64_t otherwise);

/* A copy of the string of this key, to be freed. NULL if it is absent, contains a NUL, or memory is short: for callers
 * that refuse all of these. */
char *fields_string(const struct fields *fields, uint16_t key);

/* The same for a string that may be absent: then *STRING is NULL. 0, or -1 with an error. */
int fields_optional(const struct fields *fields, uint16_t key, char **string, struct error *error);

/* All strings of this key as a NULL-terminated vector in one allocation. 0, or -1 with an error. */
int fields_strings(const struct fields *fields, uint16_t key, char ***strings, struct error *error);

void put_int(struct buffer *buffer, uint16_t key, int64_t value);
void put_string(struct buffer *buffer, uint16_t key, const char *value);
void put_bytes(struct buffer *buffer, uint16_t key, const void *bytes, size_t length);

/* Begin a record (`u32 length, fields`), and end it after its fields were put. */
size_t record_begin(struct buffer *buffer);
void record_end(struct buffer *buffer, size_t start);

uint16_t load_u16(const uint8_t *bytes);
uint32_t load_u32(const uint8_t *bytes);
uint64_t load_u64(const uint8_t *bytes);
void store_u32(uint8_t *bytes, uint32_t value);
void store_u64(uint8_t *bytes, uint64_t value);
