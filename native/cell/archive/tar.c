/* Headers and contents of a tar archive. Where a name is longer than its field, an
 * entry of type L (for a target: K) comes before and holds it. An entry of type x
 * holds the time to the nanosecond and, for a file with holes, what GNU tar calls
 * sparse format 1.0: the content begins with a list of its extents. */
#define _GNU_SOURCE
#include "tar.h"

#include <string.h>
#include <unistd.h>

#include "report.h"

#define BLOCK 512

/* As POSIX lays it out; only of such headers does GNU tar read records about holes. */
struct header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, target[100];
  char magic[8], user[32], group[32], major[8], minor[8], rest[167];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

void put_tar_bytes(const void *bytes, size_t length) {
  static const char zeros[BLOCK];
  fwrite(bytes, 1, length, stdout);
  fwrite(zeros, 1, (BLOCK - length % BLOCK) % BLOCK, stdout);
  if (ferror(stdout)) die("fwrite stdout");
}

/* In octal, or in binary where that is too long. */
static void put_number(char *field, size_t width, uint64_t value) {
  if (!(value >> 3 * (width - 1))) {
    char digits[24];
    snprintf(digits, sizeof digits, "%0*llo", (int)width - 1, (unsigned long long)value);
    memcpy(field, digits, width - 1);
    return;
  }
  field[0] = (char)0x80;
  for (size_t at = width; --at; value >>= 8) field[at] = (char)(value & 0xff);
}

/* The field holds what fits. */
static void put_text(char *field, size_t width, const char *text) { memcpy(field, text, strnlen(text, width)); }

static void put_block(struct header *header) {
  memcpy(header->magic, "ustar\00000", sizeof header->magic);
  memset(header->checksum, ' ', sizeof header->checksum);
  unsigned sum = 0;
  for (size_t at = 0; at < sizeof *header; at++) sum += ((const unsigned char *)header)[at];
  char digits[8];
  snprintf(digits, sizeof digits, "%06o", sum);
  memcpy(header->checksum, digits, 7);
  put_tar_bytes(header, sizeof *header);
}

/* An entry that says more about the next one. */
static void put_extra(char type, const char *bytes, size_t length) {
  struct header header = {.type = type};
  put_text(header.name, sizeof header.name, "././@LongLink");
  put_number(header.size, sizeof header.size, length);
  put_block(&header);
  put_tar_bytes(bytes, length);
}

static void put_long_text(char type, const char *text, size_t width) {
  size_t length = strlen(text);
  if (length > width) put_extra(type, text, length + 1);
}

/* "LENGTH KEY=VALUE\n", where the length counts its own digits. */
static size_t add_record(char *to, size_t room, const char *key, const char *value) {
  size_t length = strlen(key) + strlen(value) + 3, digits = 1;
  for (size_t most = 10; length + digits >= most; most *= 10) digits++;
  return (size_t)snprintf(to, room, "%zu %s=%s\n", length + digits, key, value);
}

static void format_time(char *text, size_t size, struct statx_timestamp time) {
  long long seconds = time.tv_sec;
  unsigned rest = time.tv_nsec;
  bool before = seconds < 0; /* 1970: the fraction counts the same way as the seconds */
  if (before && rest) {
    seconds++;
    rest = 1000000000 - rest;
  }
  snprintf(text, size, "%s%llu.%09u", before ? "-" : "",
           before ? -(unsigned long long)seconds : (unsigned long long)seconds, rest);
}

static void put_records(const struct tar_entry *entry) {
  char records[512], value[64];
  format_time(value, sizeof value, entry->mtime);
  size_t used = add_record(records, sizeof records, "mtime", value);
  if (entry->extents) {
    used += add_record(records + used, sizeof records - used, "GNU.sparse.major", "1");
    used += add_record(records + used, sizeof records - used, "GNU.sparse.minor", "0");
    snprintf(value, sizeof value, "%lld", (long long)entry->size);
    used += add_record(records + used, sizeof records - used, "GNU.sparse.realsize", value);
  }
  put_extra('x', records, used);
}

/* The list is text: how many there are, then where each begins and how long it is. */
static void each_number(const struct extents *extents, void (*visit)(const char *text, size_t length, void *),
                        void *with) {
  char text[64];
  visit(text, (size_t)snprintf(text, sizeof text, "%zu\n", extents->count), with);
  for (size_t at = 0; at < extents->count; at++) {
    const struct extent *one = &extents->list[at];
    int length = snprintf(text, sizeof text, "%lld\n%lld\n", (long long)one->start, (long long)(one->end - one->start));
    visit(text, (size_t)length, with);
  }
}

static void count_text(const char *text, size_t length, void *with) {
  (void)text;
  *(size_t *)with += length;
}

static void put_part(const char *text, size_t length, void *with) {
  (void)with;
  fwrite(text, 1, length, stdout);
}

static size_t list_length(const struct extents *extents) {
  size_t length = 0;
  each_number(extents, count_text, &length);
  return length;
}

static size_t padding(size_t length) { return (BLOCK - length % BLOCK) % BLOCK; }

static uint64_t stored_size(const struct tar_entry *entry) {
  if (!entry->extents) return (uint64_t)entry->size;
  size_t list = list_length(entry->extents);
  uint64_t size = list + padding(list);
  for (size_t at = 0; at < entry->extents->count; at++)
    size += (uint64_t)(entry->extents->list[at].end - entry->extents->list[at].start);
  return size;
}

void put_tar_header(const struct tar_entry *entry) {
  struct header header = {.type = (char)entry->type};
  put_long_text('L', entry->name, sizeof header.name);
  if (entry->target) put_long_text('K', entry->target, sizeof header.target);
  put_records(entry);
  put_text(header.name, sizeof header.name, entry->name);
  if (entry->target) put_text(header.target, sizeof header.target, entry->target);
  put_number(header.mode, sizeof header.mode, entry->mode);
  put_number(header.uid, sizeof header.uid, entry->uid);
  put_number(header.gid, sizeof header.gid, entry->gid);
  put_number(header.size, sizeof header.size, stored_size(entry));
  put_number(header.mtime, sizeof header.mtime, entry->mtime.tv_sec < 0 ? 0 : (uint64_t)entry->mtime.tv_sec);
  put_block(&header);
}

/* Zeros in place of what is not there any more. */
static void put_range(const char *name, int fd, struct extent range) {
  static char block[1 << 17];
  for (off_t at = range.start; at < range.end;) {
    size_t wanted = range.end - at < (off_t)sizeof block ? (size_t)(range.end - at) : sizeof block;
    ssize_t got = pread(fd, block, wanted, at);
    if (got < 0) die("pread '%s'", name);
    if (!got) memset(block, 0, wanted);
    size_t length = got ? (size_t)got : wanted;
    if (fwrite(block, 1, length, stdout) != length) die("fwrite stdout");
    at += (off_t)length;
  }
}

void put_tar_content(const struct tar_entry *entry, int fd) {
  static const char zeros[BLOCK];
  if (entry->extents) {
    size_t list = list_length(entry->extents);
    each_number(entry->extents, put_part, NULL);
    fwrite(zeros, 1, padding(list), stdout);
    for (size_t at = 0; at < entry->extents->count; at++) put_range(entry->name, fd, entry->extents->list[at]);
  } else {
    put_range(entry->name, fd, (struct extent){0, entry->size});
  }
  fwrite(zeros, 1, padding((size_t)stored_size(entry)), stdout);
  if (ferror(stdout)) die("fwrite stdout");
}

void end_tar(void) {
  static const char zeros[2 * BLOCK];
  put_tar_bytes(zeros, sizeof zeros);
}
