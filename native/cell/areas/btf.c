#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/stat.h>

#include "areas.h"
#include "shared/owned.h"

#define TYPES_OF_KERNEL "/sys/kernel/btf/vmlinux"
#define ITERATOR "bpf_iter_task_vma"
#define AREA "vm_area_struct"
#define MOST_TYPES (1 << 20)
#define DEEPEST 8

struct types {
  const char *strings;
  uint32_t strings_length;
  const struct btf_type **by_id;
  uint32_t count;
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

static uint32_t find_type(const struct types *types, uint32_t kind, const char *name) {
  for (uint32_t id = 1; id < types->count; id++) {
    const struct btf_type *type = types->by_id[id];
    if (BTF_INFO_KIND(type->info) == kind && !strcmp(name_at(types, type->name_off), name)) return id;
  }
  return 0;
}

/* The offset of a member in bytes, also of a structure without a name in this one; -1: it has none of that name. */
static long find_member(const struct types *types, uint32_t id, const char *name, int depth) {
  const struct btf_type *type = id < types->count ? types->by_id[id] : NULL;
  uint32_t kind = type ? BTF_INFO_KIND(type->info) : 0;
  if (depth == DEEPEST || (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION)) return -1;
  const struct btf_member *members = (const struct btf_member *)(type + 1);
  for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++) {
    bool has_bits = BTF_INFO_KFLAG(type->info);
    long at = (has_bits ? BTF_MEMBER_BIT_OFFSET(members[i].offset) : members[i].offset) / 8;
    const char *own = name_at(types, members[i].name_off);
    if (!strcmp(own, name)) return at;
    long below = *own ? -1 : find_member(types, members[i].type, name, depth + 1);
    if (below >= 0) return at + below;
  }
  return -1;
}

static bool find_all(const struct types *types, struct layout *layout) {
  uint32_t area = find_type(types, BTF_KIND_STRUCT, AREA);
  long start = find_member(types, area, "vm_start", 0), end = find_member(types, area, "vm_end", 0);
  long flags = find_member(types, area, "vm_flags", 0);
  uint32_t function = find_type(types, BTF_KIND_FUNC, ITERATOR);
  *layout = (struct layout){function, (uint32_t)start, (uint32_t)end, (uint32_t)flags};
  return function && start >= 0 && end >= 0 && flags >= 0;
}

static bool find_in(const char *bytes, size_t length, struct layout *layout) {
  const struct btf_header *head = (const struct btf_header *)bytes;
  if (length < sizeof *head || head->magic != BTF_MAGIC || head->hdr_len > length) return false;
  const char *rest = bytes + head->hdr_len;
  size_t left = length - head->hdr_len;
  if ((size_t)head->type_off + head->type_len > left || (size_t)head->str_off + head->str_len > left) return false;
  struct types types = {.strings = rest + head->str_off, .strings_length = head->str_len};
  const char *first = rest + head->type_off;
  bool found = index_types(&types, first, first + head->type_len) && find_all(&types, layout);
  free(types.by_id);
  return found;
}

static bool read_all(int fd, char *bytes, size_t length) {
  for (size_t at = 0; at < length;) {
    ssize_t got = read(fd, bytes + at, length - at);
    if (got <= 0) return false;
    at += (size_t)got;
  }
  return true;
}

bool find_layout(struct layout *layout) {
  autoclose int fd = open(TYPES_OF_KERNEL, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info)) return false;
  size_t length = (size_t)info.st_size;
  autofree char *bytes = malloc(length);
  return bytes && read_all(fd, bytes, length) && find_in(bytes, length, layout);
}
