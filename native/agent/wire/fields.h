/* Fields: repeated `u16 key, u32 length, bytes`, read from a frame and built for one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "protocol.h"

struct fields {
	const uint8_t *bytes;
	size_t length;
};

struct field {
	uint16_t key;
	uint32_t length;
	const uint8_t *bytes;
};

/* The next field after *position; false at the end or where it is malformed. */
bool fields_next(const struct fields *fields, size_t *position, struct field *field);

/* True if the bytes are a whole number of fields. */
bool fields_valid(const struct fields *fields);

bool fields_has(const struct fields *fields, uint16_t key);

/* The integer of this key, or `otherwise`. */
int64_t fields_int(const struct fields *fields, uint16_t key, int64_t otherwise);

/* A copy of the string of this key, to be freed. NULL with errno 0 if it is
 * absent, EINVAL if it holds a NUL, ENOMEM. */
char *fields_string(const struct fields *fields, uint16_t key);

/* Every string of this key as a NULL-terminated vector in one allocation. NULL with errno. */
char **fields_strings(const struct fields *fields, uint16_t key);

void put_int(struct buffer *buffer, uint16_t key, int64_t value);
void put_string(struct buffer *buffer, uint16_t key, const char *value);
void put_bytes(struct buffer *buffer, uint16_t key, const void *bytes, size_t length);

/* Starts a record (`u32 length, fields`) and, once its fields are put, ends it. */
size_t record_begin(struct buffer *buffer);
void record_end(struct buffer *buffer, size_t start);

uint16_t load_u16(const uint8_t *bytes);
uint32_t load_u32(const uint8_t *bytes);
uint64_t load_u64(const uint8_t *bytes);
void store_u32(uint8_t *bytes, uint32_t value);
void store_u64(uint8_t *bytes, uint64_t value);
