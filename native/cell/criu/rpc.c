/* As much of CRIU's RPC as a worker needs: our caller sends complete requests, and few fields of the answers matter. */
#define _GNU_SOURCE
#include "rpc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { REQUEST_NOTIFY = 6 };

struct field {
  unsigned number;
  uint64_t value;       /* of a number; the length of bytes */
  const uint8_t *bytes; /* NULL for a number */
};

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
    uint8_t byte = *(*at)++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool next_field(const uint8_t **at, const uint8_t *end, struct field *field) {
  uint64_t tag;
  if (*at >= end || !read_varint(at, end, &tag)) return false;
  *field = (struct field){.number = (unsigned)(tag >> 3)};
  switch (tag & 7) {
    case VARINT: return read_varint(at, end, &field->value);
    case FIXED64: field->value = 8; break;
    case FIXED32: field->value = 4; break;
    case BYTES:
      if (!read_varint(at, end, &field->value)) return false;
      break;
    default: return false;
  }
  if (field->value > (uint64_t)(end - *at)) return false;
  field->bytes = *at;
  *at += field->value;
  return true;
}

static void copy_text(char *to, size_t size, const struct field *field) {
  if (field->bytes) snprintf(to, size, "%.*s", (int)field->value, (const char *)field->bytes);
}

/* The pid is field 1 in the answer to a restore, and field 2 in a notification. */
static void read_inner(const struct field *outer, unsigned pid_number, struct answer *answer) {
  const uint8_t *at = outer->bytes, *end = outer->bytes + outer->value;
  for (struct field field; at && next_field(&at, end, &field);) {
    if (field.number == pid_number && !field.bytes) answer->pid = (pid_t)field.value;
    if (field.number == 1) copy_text(answer->script, sizeof answer->script, &field);
  }
}

void read_answer(const uint8_t *at, size_t length, struct answer *answer) {
  const uint8_t *end = at + length;
  *answer = (struct answer){0};
  for (struct field field; next_field(&at, end, &field);) switch (field.number) {
      case 1: answer->notifies = field.value == REQUEST_NOTIFY; break;
      case 2: answer->success = field.value != 0; break;
      case 4: read_inner(&field, 1, answer); break;
      case 5: read_inner(&field, 2, answer); break;
      case 9: copy_text(answer->message, sizeof answer->message, &field); break;
    }
}

bool answer_notification(int socket, bool success) {
  const uint8_t message[] = {1 << 3 | VARINT, REQUEST_NOTIFY, 3 << 3 | VARINT, success};
  return send(socket, message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}
