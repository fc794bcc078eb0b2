/* Reads a tar archive from stdin: the formats of POSIX (ustar, pax) and of GNU, as the tools for container images write
 * them. Whatever else it finds ends the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "report.h"
#include "unpack.h"

#define BLOCK 512
#define LONGEST_RECORDS (1 << 20) /* of one member, and of a long name */

struct header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, target[100];
  char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* What records before a member say about it. */
struct said {
  char *name, *target;
  bool has_size, has_uid, has_gid, has_mtime;
  uint64_t size, uid, gid;
  struct timespec mtime;
};

static void read_bytes(void *to, size_t length) {
  if (fread(to, 1, length, stdin) == length) return;
  if (ferror(stdin)) die("read the archive");
  die_because("the archive ends early");
}

static bool is_zero(const void *block) {
  static const char zeros[BLOCK];
  return !memcmp(block, zeros, BLOCK);
}

/* Octal text, or GNU's binary form with the first bit set. */
static uint64_t number(const char *field, size_t length, const char *what) {
  uint64_t value = 0;
  if (*field & 0x80) {
    if (*field & 0x40) die_because("the archive has a negative %s", what);
    value = (unsigned char)*field & 0x3f;
    for (size_t i = 1; i < length; i++) {
      if (value >> 55) die_because("the archive has a %s that is too large", what);
      value = value << 8 | (unsigned char)field[i];
    }
    return value;
  }
  size_t i = 0;
  while (i < length && field[i] == ' ') i++;
  for (; i < length && field[i] >= '0' && field[i] <= '7'; i++) value = value << 3 | (uint64_t)(field[i] - '0');
  if (i < length && field[i] != ' ' && field[i] != '\0') die_because("the archive has a %s that is no number", what);
  return value;
}

static void require_checksum(const struct header *header) {
  const unsigned char *bytes = (const unsigned char *)header;
  uint64_t sum = 0;
  for (size_t i = 0; i < BLOCK; i++)
    sum += i >= offsetof(struct header, checksum) && i < offsetof(struct header, type) ? ' ' : bytes[i];
  if (sum != number(header->checksum, sizeof header->checksum, "checksum"))
    die_because("the archive is damaged: a header has the wrong checksum");
}

static void skip_padding(uint64_t size) {
  char rest[BLOCK];
  read_bytes(rest, (size_t)((BLOCK - size % BLOCK) % BLOCK));
}

/* The content of a member that describes the next one, with a NUL after it. */
static char *read_text(uint64_t size) {
  if (size > LONGEST_RECORDS) die_because("the archive has records of %llu bytes", (unsigned long long)size);
  char *text = require_memory(malloc(size + 1));
  read_bytes(text, size);
  text[size] = '\0';
  skip_padding(size);
  return text;
}

static uint64_t decimal(const char *text, const char *what) {
  char *end;
  errno = 0;
  uint64_t value = strtoull(text, &end, 10);
  if (errno || end == text || (*end && *end != '.') || *text == '-')
    die_because("the archive has a %s that is no number", what);
  return value;
}

static struct timespec time_of(const char *text) {
  struct timespec time = {.tv_sec = strtoll(text, NULL, 10)};
  const char *point = strchr(text, '.');
  long digit = 100000000;
  for (const char *at = point ? point + 1 : ""; *at >= '0' && *at <= '9' && digit > 0; at++, digit /= 10)
    time.tv_nsec += digit * (*at - '0');
  return time;
}

static void replace(char **text, const char *value) {
  free(*text);
  *text = require_memory(strdup(value));
}

/* Attributes that mean something inside. Others belong to the machine that made the image, and those of OverlayFS would
 * change what other layers show. */
static bool is_wanted(const char *name) {
  if (!strcmp(name, "security.capability")) return true;
  return !strncmp(name, "user.", 5) && strncmp(name, "user.overlay.", 13);
}

static void add_attribute(struct member *member, const char *name, const char *value, size_t length) {
  if (!is_wanted(name)) return;
  if (member->attribute_count == MOST_ATTRIBUTES) die_because("a file of the archive has too many attributes");
  struct attribute *to = &member->attributes[member->attribute_count++];
  to->name = require_memory(strdup(name));
  to->value = require_memory(malloc(length + 1));
  memcpy(to->value, value, length);
  to->length = length;
}

static void take_record(struct said *said, struct member *member, const char *key, const char *value, size_t length) {
  static const char attribute[] = "SCHILY.xattr.";
  if (!strncmp(key, attribute, sizeof attribute - 1)) {
    add_attribute(member, key + sizeof attribute - 1, value, length);
    return;
  }
  if (!strncmp(key, "GNU.sparse.", 11)) die_because("the archive has a sparse file, which images do not have");
  if (strlen(value) != length) die_because("the archive has a record with a NUL");
  if (!strcmp(key, "path")) replace(&said->name, value);
  if (!strcmp(key, "linkpath")) replace(&said->target, value);
  if (!strcmp(key, "size")) said->has_size = true, said->size = decimal(value, "size");
  if (!strcmp(key, "uid")) said->has_uid = true, said->uid = decimal(value, "user id");
  if (!strcmp(key, "gid")) said->has_gid = true, said->gid = decimal(value, "group id");
  if (!strcmp(key, "mtime")) said->has_mtime = true, said->mtime = time_of(value);
}

/* Each is `LENGTH KEY=VALUE\n`, and the length counts all of it. */
static void take_records(struct said *said, struct member *member, uint64_t size) {
  char *text = read_text(size);
  for (char *at = text, *end = text + size; at < end;) {
    char *space;
    uint64_t length = strtoull(at, &space, 10);
    if (*space != ' ' || length < 5 || length > (uint64_t)(end - at) || at[length - 1] != '\n')
      die_because("the archive has a damaged record");
    char *equals = memchr(space, '=', (size_t)(at + length - space));
    if (!equals) die_because("the archive has a damaged record");
    *equals = '\0';
    at[length - 1] = '\0';
    take_record(said, member, space + 1, equals + 1, (size_t)(at + length - 1 - (equals + 1)));
    at += length;
  }
  free(text);
}

static void name_of(const struct header *header, char *name, size_t room) {
  bool has_prefix = !memcmp(header->magic, "ustar", 6) && *header->prefix;
  int prefix = has_prefix ? (int)strnlen(header->prefix, sizeof header->prefix) : 0;
  snprintf(name, room, "%.*s%s%.*s", prefix, header->prefix, prefix ? "/" : "",
           (int)strnlen(header->name, sizeof header->name), header->name);
}

static uint32_t id_of(uint64_t id, const char *what) {
  if (id >= UINT32_MAX) die_because("the archive has a %s that is too large", what);
  return (uint32_t)id;
}

static void describe(struct member *member, const struct header *header, const struct said *said) {
  char name[sizeof header->prefix + sizeof header->name + 2], target[sizeof header->target + 1];
  name_of(header, name, sizeof name);
  snprintf(target, sizeof target, "%.*s", (int)sizeof header->target, header->target);
  member->type = header->type;
  member->name = checked_name(said->name ? said->name : name, "the name");
  member->target = require_memory(strdup(said->target ? said->target : target));
  member->mode = (mode_t)(number(header->mode, sizeof header->mode, "mode") & 07777);
  member->uid = id_of(said->has_uid ? said->uid : number(header->uid, sizeof header->uid, "user id"), "user id");
  member->gid = id_of(said->has_gid ? said->gid : number(header->gid, sizeof header->gid, "group id"), "group id");
  member->size = said->has_size ? said->size : number(header->size, sizeof header->size, "size");
  member->mtime.tv_sec = (time_t)number(header->mtime, sizeof header->mtime, "time");
  if (said->has_mtime) member->mtime = said->mtime;
}

/* False at the end: a block of zeros, or the end of the input between two members. */
static bool next_header(struct header *header) {
  size_t got = fread(header, 1, BLOCK, stdin);
  if (got == 0 && feof(stdin)) return false;
  if (got != BLOCK) die_because("the archive ends early");
  if (is_zero(header)) return false;
  require_checksum(header);
  return true;
}

bool next_member(struct member *member) {
  struct header header;
  struct said said = {0};
  *member = (struct member){0};
  while (next_header(&header)) {
    uint64_t size = number(header.size, sizeof header.size, "size");
    switch (header.type) {
      case 'x': take_records(&said, member, size); continue;
      case 'g': free(read_text(size)); continue; /* of all members; the tools for images put nothing there */
      case 'L':
        free(said.name);
        said.name = read_text(size);
        continue;
      case 'K':
        free(said.target);
        said.target = read_text(size);
        continue;
    }
    describe(member, &header, &said);
    free(said.name);
    free(said.target);
    return true;
  }
  if (said.name || said.target) die_because("the archive ends early");
  return false;
}

void free_member(struct member *member) {
  free(member->name);
  free(member->target);
  for (size_t i = 0; i < member->attribute_count; i++) {
    free(member->attributes[i].name);
    free(member->attributes[i].value);
  }
}

void take_content(const struct member *member, int fd) {
  static char piece[1 << 16];
  for (uint64_t left = member->size; left > 0;) {
    size_t length = left < sizeof piece ? (size_t)left : sizeof piece;
    read_bytes(piece, length);
    if (fd >= 0 && !write_all(fd, piece, length)) die("write '%s'", shown(member->name));
    left -= length;
  }
  skip_padding(member->size);
}

void drain_input(void) {
  char piece[1 << 14];
  while (fread(piece, 1, sizeof piece, stdin) > 0) continue;
  if (ferror(stdin)) die("read the archive");
}
