/* A BPF program that copies memory of the kernel, run once for each piece. It gets an address and a length; with the
 * length 0, it tells where the kernel describes the thread that runs it. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"
#include "shared/owned.h"

#define PIECE 4096

struct kernel {
  struct types *types;
  int program;
  const uint8_t *piece; /* what was read last */
};

static int bpf(enum bpf_cmd command, union bpf_attr *attributes) {
  return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

static int make_map(void) {
  union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY,
                               .key_size = sizeof(uint32_t),
                               .value_size = PIECE,
                               .max_entries = 1,
                               .map_flags = BPF_F_MMAPABLE};
  return bpf(BPF_MAP_CREATE, &attributes);
}

#define INSTRUCTION(...) \
  (struct bpf_insn) { __VA_ARGS__ }
#define LOAD(to, from, at) INSTRUCTION(.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = to, .src_reg = from, .off = at)
#define STORE(to, from) INSTRUCTION(.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = to, .src_reg = from)
#define MOVE(to, from) INSTRUCTION(.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to, .src_reg = from)
#define SET(to, value) INSTRUCTION(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = to, .imm = value)
#define JUMP(how, what, value, count) \
  INSTRUCTION(.code = BPF_JMP | how | BPF_K, .dst_reg = what, .imm = value, .off = count)
#define CALL(function) INSTRUCTION(.code = BPF_JMP | BPF_CALL, .imm = function)
#define EXIT INSTRUCTION(.code = BPF_JMP | BPF_EXIT)
/* The address of the map's only value takes two instructions. */
#define VALUE(to, map)                                                                                        \
  INSTRUCTION(.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = to, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map), \
      INSTRUCTION(0)

static int load_program(int map) {
  struct bpf_insn program[] = {
      VALUE(BPF_REG_6, map),
      LOAD(BPF_REG_3, BPF_REG_1, 0),
      LOAD(BPF_REG_2, BPF_REG_1, 8),
      JUMP(BPF_JEQ, BPF_REG_2, 0, 4),
      JUMP(BPF_JGT, BPF_REG_2, PIECE, 7),
      MOVE(BPF_REG_1, BPF_REG_6),
      CALL(BPF_FUNC_probe_read_kernel),
      EXIT,
      CALL(BPF_FUNC_get_current_task),
      STORE(BPF_REG_6, BPF_REG_0),
      SET(BPF_REG_0, 0),
      EXIT,
      SET(BPF_REG_0, 1),
      EXIT,
  };
  union bpf_attr attributes = {
      .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
      .insns = (uint64_t)program,
      .insn_cnt = sizeof program / sizeof *program,
      .license = (uint64_t) "Dual MIT/GPL", /* of these instructions; the kernel asks for it */
  };
  return bpf(BPF_PROG_LOAD, &attributes);
}

static bool run(const struct kernel *kernel, uint64_t address, uint64_t length) {
  uint64_t arguments[2] = {address, length};
  union bpf_attr attributes = {0};
  attributes.test.prog_fd = (uint32_t)kernel->program;
  attributes.test.ctx_in = (uint64_t)arguments;
  attributes.test.ctx_size_in = sizeof arguments;
  return !bpf(BPF_PROG_TEST_RUN, &attributes) && !attributes.test.retval;
}

static struct kernel *open_kernel(void) {
  autoclose int map = make_map();
  if (map < 0) return NULL;
  struct kernel *kernel = calloc(1, sizeof *kernel);
  void *piece = mmap(NULL, PIECE, PROT_READ, MAP_SHARED, map, 0);
  if (!kernel || piece == MAP_FAILED) return NULL;
  kernel->piece = piece;
  kernel->program = load_program(map);
  kernel->types = kernel->program < 0 ? NULL : read_types();
  return kernel->types ? kernel : NULL;
}

struct kernel *require_kernel(void) {
  static struct kernel *kernel;
  static bool was_tried;
  if (!was_tried) kernel = open_kernel();
  was_tried = true;
  return kernel;
}

struct types *types_of(const struct kernel *kernel) {
  return kernel->types;
}

bool read_kernel(struct kernel *kernel, uint64_t address, void *bytes, size_t length) {
  for (size_t at = 0, size; at < length; at += size) {
    size = length - at < PIECE ? length - at : PIECE;
    if (!run(kernel, address + at, size)) return false;
    memcpy((char *)bytes + at, kernel->piece, size);
  }
  return true;
}

bool read_number_at(struct kernel *kernel, uint64_t address, const char *structure, const char *member, size_t size,
                    uint64_t *number) {
  long at = find_member(kernel->types, structure, member);
  *number = 0; /* the least significant byte comes first, on all machines that this runs on */
  return address && at >= 0 && size <= sizeof *number && read_kernel(kernel, address + (uint64_t)at, number, size);
}

uint64_t read_pointer(struct kernel *kernel, uint64_t address, const char *structure, const char *member) {
  uint64_t pointer;
  return read_number_at(kernel, address, structure, member, sizeof pointer, &pointer) ? pointer : 0;
}

static uint64_t address_of_file(struct kernel *kernel, int fd) {
  uint64_t thread, file = 0;
  if (!run(kernel, 0, 0)) return 0;
  memcpy(&thread, kernel->piece, sizeof thread);
  uint64_t table = read_pointer(kernel, read_pointer(kernel, thread, "task_struct", "files"), "files_struct", "fdt");
  uint64_t files = read_pointer(kernel, table, "fdtable", "fd");
  if (!files || fd < 0 || !read_kernel(kernel, files + (uint64_t)fd * sizeof file, &file, sizeof file)) return 0;
  return file;
}

uint64_t address_of_private(struct kernel *kernel, int fd) {
  return read_pointer(kernel, address_of_file(kernel, fd), "file", "private_data");
}

uint64_t address_of_inode(struct kernel *kernel, int fd) {
  return read_pointer(kernel, address_of_file(kernel, fd), "file", "f_inode");
}
