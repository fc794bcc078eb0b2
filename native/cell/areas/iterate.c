/* A BPF program that tells start, end and flags of each area of a process. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "areas.h"
#include "shared/owned.h"

static int bpf(enum bpf_cmd command, union bpf_attr *attributes) {
  return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

#define MOVE(to, from) \
  (struct bpf_insn) { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to, .src_reg = from }
#define SET(to, value) \
  (struct bpf_insn) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = to, .imm = value }
#define ADD(to, value) \
  (struct bpf_insn) { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = to, .imm = value }
#define LOAD(to, from, at) \
  (struct bpf_insn) { .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = to, .src_reg = from, .off = (int16_t)(at) }
#define STORE(to, at, from) \
  (struct bpf_insn) { .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = to, .src_reg = from, .off = (int16_t)(at) }
#define SKIP_IF_ZERO(what, count) \
  (struct bpf_insn) { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = what, .off = count }
#define CALL(function) \
  (struct bpf_insn) { .code = BPF_JMP | BPF_CALL, .imm = function }
#define EXIT \
  (struct bpf_insn) { .code = BPF_JMP | BPF_EXIT }

/* Offsets in what the program gets: pointers to the output, the task, and the area, which is NULL at the end. */
enum { OUTPUT = 0, FOUND = 16 };

int load_lister(const struct layout *layout) {
  const int bytes = (int)sizeof(struct area_flags);
  struct bpf_insn program[] = {
      LOAD(BPF_REG_7, BPF_REG_1, FOUND),
      SKIP_IF_ZERO(BPF_REG_7, 12),
      LOAD(BPF_REG_2, BPF_REG_7, layout->start),
      STORE(BPF_REG_10, -bytes, BPF_REG_2),
      LOAD(BPF_REG_2, BPF_REG_7, layout->end),
      STORE(BPF_REG_10, -bytes + 8, BPF_REG_2),
      LOAD(BPF_REG_2, BPF_REG_7, layout->flags),
      STORE(BPF_REG_10, -bytes + 16, BPF_REG_2),
      LOAD(BPF_REG_1, BPF_REG_1, OUTPUT),
      LOAD(BPF_REG_1, BPF_REG_1, 0),
      MOVE(BPF_REG_2, BPF_REG_10),
      ADD(BPF_REG_2, -bytes),
      SET(BPF_REG_3, bytes),
      CALL(BPF_FUNC_seq_write),
      SET(BPF_REG_0, 0),
      EXIT,
  };
  union bpf_attr attributes = {
      .prog_type = BPF_PROG_TYPE_TRACING,
      .expected_attach_type = BPF_TRACE_ITER,
      .attach_btf_id = layout->function,
      .insns = (uint64_t)program,
      .insn_cnt = sizeof program / sizeof *program,
      .license = (uint64_t) "Dual MIT/GPL", /* of these instructions; the kernel asks for it */
  };
  return bpf(BPF_PROG_LOAD, &attributes);
}

static int open_list(int lister, pid_t thread) {
  union bpf_iter_link_info which = {.task = {.tid = (uint32_t)thread}};
  union bpf_attr create = {.link_create = {.prog_fd = (uint32_t)lister, .attach_type = BPF_TRACE_ITER}};
  create.link_create.iter_info = (uint64_t)&which;
  create.link_create.iter_info_len = sizeof which;
  autoclose int link = bpf(BPF_LINK_CREATE, &create);
  if (link < 0) return -1;
  union bpf_attr iterate = {.iter_create = {.link_fd = (uint32_t)link}};
  return bpf(BPF_ITER_CREATE, &iterate);
}

/* The bytes of areas that ascend, of LENGTH bytes after KNOWN ones that do. */
static size_t ascending_bytes(const struct areas *areas, size_t known, size_t length) {
  const size_t bytes = sizeof *areas->all;
  for (size_t next = known / bytes > 0 ? known / bytes : 1; (next + 1) * bytes <= length; next++)
    if (areas->all[next].start < areas->all[next - 1].end) return next * bytes;
  return length;
}

/* The kernel (6.18) may tell the last areas again and again if it takes several reads: then there is no end. */
bool list_areas(int lister, pid_t thread, struct areas *areas) {
  *areas = (struct areas){0};
  autoclose int list = open_list(lister, thread);
  size_t length = 0, room = 0;
  while (list >= 0) {
    if (room - length < 4096) {
      room = 2 * room + 8192;
      void *grown = realloc(areas->all, room);
      if (!grown) break;
      areas->all = grown;
    }
    ssize_t got = read(list, (char *)areas->all + length, room - length);
    if (got <= 0) break;
    size_t ascending = ascending_bytes(areas, length, length + (size_t)got);
    bool repeats = ascending < length + (size_t)got;
    length = ascending;
    if (repeats) break;
  }
  areas->count = length / sizeof *areas->all;
  return areas->count > 0;
}
