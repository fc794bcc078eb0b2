#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel.h"
#include "shared/owned.h"

#define TYPES_OF_KERNEL "/sys/kernel/btf/vmlinux"
#define MOST_TYPES (1 << 20)
#define DEEPEST 8

#define MOST_KNOWN 64

struct known {
  const char *structure, *member; /* literals of the caller */
  long offset;
};

struct types {
  char *bytes;
  const char *strings;
  uint32_t strings_length;
  const struct btf_type **by_id;
  uint32_t count;
  struct known known[MOST_KNOWN]; /* members that were found: it takes a while to find one */
  size_t known_count;
};

static const char *name_at(const struct types *types, uint32_t offset) {
  return offset < types->strings_length ? types->strings + offset : "";
}

/* What follows a type of this kind, in bytes; -1: it is not known. */
static long length_after(const struct btf_type *type) {
  uint32_t count = BTF_INFO_VLEN(type->info);
  switch (BTF_INFO_KIND(type->info)) {
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG: return 0;
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG: return sizeof(uint32_t);
    case BTF_KIND_ARRAY: return sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION: return (long)(count * sizeof(struct btf_member));
    case BTF_KIND_ENUM: return (long)(count * sizeof(struct btf_enum));
    case BTF_KIND_ENUM64: return (long)(count * sizeof(struct btf_enum64));
    case BTF_KIND_FUNC_PROTO: return (long)(count * sizeof(struct btf_param));
    case BTF_KIND_DATASEC: return (long)(count * sizeof(struct btf_var_secinfo));
    default: return -1;
  }
}

/* Whether all of it was read. The kernel wrote this, but another version may have kinds that we do not know. */
static bool index_types(struct types *types, const char *at, const char *end) {
  types->by_id = calloc(MOST_TYPES, sizeof *types->by_id);
  types->count = 1; /* 0 is void */
  while (types->by_id && at + sizeof(struct btf_type) <= end && types->count < MOST_TYPES) {
    const struct btf_type *type = (const struct btf_type *)at;
    long after = length_after(type);
    if (after < 0) return false;
    types->by_id[types->count++] = type;
    at += sizeof *type + (size_t)after;
  }
  return at == end;
}

/* Where the kernel has this name; 0 if it has none, or only as the end of a longer one. Numbers are compared ten times
 * as fast as names. */
static uint32_t offset_of_name(const struct types *types, const char *name) {
  char sought[128];
  int length = snprintf(sought, sizeof sought, "%c%s", 0, name);
  if (length < 0 || (size_t)length >= sizeof sought) return 0;
  const char *found = memmem(types->strings, types->strings_length, sought, (size_t)length + 1);
  return found ? (uint32_t)(found + 1 - types->strings) : 0;
}

static uint32_t find_type(const struct types *types, uint32_t kind, const char *name) {
  uint32_t offset = offset_of_name(types, name);
  for (uint32_t id = 1; offset && id < types->count; id++)
    if (types->by_id[id]->name_off == offset && BTF_INFO_KIND(types->by_id[id]->info) == kind) return id;
  for (uint32_t id = 1; id < types->count; id++) {
    const struct btf_type *type = types->by_id[id];
    if (BTF_INFO_KIND(type->info) == kind && !strcmp(name_at(types, type->name_off), name)) return id;
  }
  return 0;
}

static long find_member_of(const struct types *types, uint32_t id, const char *name, int depth) {
  const struct btf_type *type = id < types->count ? types->by_id[id] : NULL;
  uint32_t kind = type ? BTF_INFO_KIND(type->info) : 0;
  if (depth == DEEPEST || (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION)) return -1;
  const struct btf_member *members = (const struct btf_member *)(type + 1);
  for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
    bool has_bits = BTF_INFO_KFLAG(type->info);
    long at = (has_bits ? BTF_MEMBER_BIT_OFFSET(members[i].offset) : members[i].offset) / 8;
    const char *own = name_at(types, members[i].name_off);
    if (!strcmp(own, name)) return at;
    long below = *own ? -1 : find_member_of(types, members[i].type, name, depth + 1);
    if (below >= 0) return at + below;
  }
  return -1;
}

uint32_t find_function(const struct types *types, const char *name) { return find_type(types, BTF_KIND_FUNC, name); }

long find_member(struct types *types, const char *structure, const char *member) {
  for (size_t i = 0; i < types->known_count; i++)
    if (!strcmp(types->known[i].structure, structure) && !strcmp(types->known[i].member, member))
      return types->known[i].offset;
  uint32_t id = find_type(types, BTF_KIND_STRUCT, structure);
  long offset = id ? find_member_of(types, id, member, 0) : -1;
  if (types->known_count < MOST_KNOWN) types->known[types->known_count++] = (struct known){structure, member, offset};
  return offset;
}

long size_of_type(const struct types *types, const char *structure) {
  uint32_t id = find_type(types, BTF_KIND_STRUCT, structure);
  return id ? (long)types->by_id[id]->size : -1;
}

static bool index_all(struct types *types, size_t length) {
  const struct btf_header *head = (const struct btf_header *)types->bytes;
  if (length < sizeof *head || head->magic != BTF_MAGIC || head->hdr_len > length) return false;
  const char *rest = types->bytes + head->hdr_len;
  size_t left = length - head->hdr_len;
  if ((size_t)head->type_off + head->type_len > left || (size_t)head->str_off + head->str_len > left) return false;
  types->strings = rest + head->str_off;
  types->strings_length = head->str_len;
  const char *first = rest + head->type_off;
  return index_types(types, first, first + head->type_len);
}

static bool read_all(int fd, char *bytes, size_t length) {
  for (size_t at = 0; at < length;) {
    ssize_t got = read(fd, bytes + at, length - at);
    if (got <= 0) return false;
    at += (size_t)got;
  }
  return true;
}

void free_types(struct types *types) {
  if (!types) return;
  free(types->by_id);
  free(types->bytes);
  free(types);
}

struct types *read_types(void) {
  autoclose int fd = open(TYPES_OF_KERNEL, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info)) return NULL;
  size_t length = (size_t)info.st_size;
  struct types *types = calloc(1, sizeof *types);
  if (types && (types->bytes = malloc(length)) && read_all(fd, types->bytes, length) && index_all(types, length))
    return types;
  free_types(types);
  return NULL;
}
