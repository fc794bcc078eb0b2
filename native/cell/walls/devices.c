/* Which devices the processes of cells may open, whatever device nodes they get hold of: those of the template (see
 * template.c) and terminals. This is the second wall, behind mounts without devices.
 *
 * With cgroup v1 the policy is text in the group of each cell (see src/backends/native/cell/devices.ts). With v2 it
 * is a BPF program that is attached to the group above all cells of a home, and goes away with that group. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "walls.h"

/* The mode of a group that has the program; devices.ts looks at it too. A mode is easy to read, while only bpf()
 * shows a program. The kernel makes groups with mode 0755. */
#define LIMITED_MODE 0700

#define ANY (-1)

/* Character devices that may be opened. None may be made. */
static const struct {
  int major, minor;
} allowed[] = {
    {1, 3} /* null */,    {1, 5} /* zero */, {1, 7} /* full */, {1, 8} /* random */,
    {1, 9} /* urandom */, {5, 0} /* tty */,  {5, 2} /* ptmx */, {136, ANY} /* pts */,
};

#define OP(op, to, from, jump, value) \
  ((struct bpf_insn){.code = (op), .dst_reg = (to), .src_reg = (from), .off = (jump), .imm = (value)})
#define LOAD_FIELD(to, field) \
  OP(BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_1, offsetof(struct bpf_cgroup_dev_ctx, field), 0)
#define SKIP_IF(reg, value, n) OP(BPF_JMP | BPF_JEQ | BPF_K, reg, 0, n, value)
#define SKIP_UNLESS(reg, value, n) OP(BPF_JMP | BPF_JNE | BPF_K, reg, 0, n, value)
#define ANSWER(value) OP(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value), OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#define EACH 4
#define ALLOWED (sizeof allowed / sizeof *allowed)

static size_t build_policy(struct bpf_insn *code) {
  const struct bpf_insn first[] = {
      /* the type of device in the low half, the kind of access in the high half */
      LOAD_FIELD(BPF_REG_2, access_type),
      OP(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0),
      OP(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_3, 0, 0, 0xffff),
      SKIP_IF(BPF_REG_3, BPF_DEVCG_DEV_CHAR, 2),
      ANSWER(0),
      OP(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, 0, 0, BPF_DEVCG_ACC_MKNOD << 16),
      SKIP_IF(BPF_REG_2, 0, 2),
      ANSWER(0),
      LOAD_FIELD(BPF_REG_2, major),
      LOAD_FIELD(BPF_REG_3, minor),
  };
  memcpy(code, first, sizeof first);
  size_t n = sizeof first / sizeof *first;
  for (size_t i = 0; i < ALLOWED; i++) {
    const bool any = allowed[i].minor == ANY;
    const struct bpf_insn one[EACH] = {
        SKIP_UNLESS(BPF_REG_2, allowed[i].major, 3),
        any ? OP(BPF_JMP | BPF_JA, 0, 0, 0, 0) : SKIP_UNLESS(BPF_REG_3, allowed[i].minor, 2),
        ANSWER(1),
    };
    memcpy(code + n, one, sizeof one);
    n += EACH;
  }
  const struct bpf_insn last[] = {ANSWER(0)};
  memcpy(code + n, last, sizeof last);
  return n + sizeof last / sizeof *last;
}

static int bpf(int command, union bpf_attr *attr) { return (int)syscall(SYS_bpf, command, attr, sizeof *attr); }

/* Returns its descriptor, or -1 where the kernel has no such programs or this process may not load them. */
static int load_policy(void) {
  struct bpf_insn code[32 + EACH * ALLOWED];
  size_t length = build_policy(code);
  static const char license[] = "MIT";
  union bpf_attr attr = {
      .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
      .expected_attach_type = BPF_CGROUP_DEVICE,
      .insns = (uintptr_t)code,
      .insn_cnt = (uint32_t)length,
      .license = (uintptr_t)license,
      .prog_name = "fp_devices",
  };
  int fd = bpf(BPF_PROG_LOAD, &attr);
  if (fd < 0 && errno != EPERM && errno != ENOSYS && errno != EINVAL) die("bpf BPF_PROG_LOAD");
  return fd;
}

static bool attach_policy(int program, const char *group) {
  int directory = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) die("open '%s'", group);
  union bpf_attr attr = {
      .target_fd = (uint32_t)directory,
      .attach_bpf_fd = (uint32_t)program,
      .attach_type = BPF_CGROUP_DEVICE,
      .attach_flags = BPF_F_ALLOW_MULTI, /* in addition to programs of the groups above and below */
  };
  bool attached = !bpf(BPF_PROG_ATTACH, &attr);
  if (!attached && errno != EPERM && errno != EINVAL) die("bpf BPF_PROG_ATTACH to '%s'", group);
  close(directory);
  return attached;
}

static bool limit_home_devices(const char *group) {
  struct stat info;
  if (stat(group, &info)) die("stat '%s'", group);
  if ((info.st_mode & 07777) == LIMITED_MODE) return true;
  int program = load_policy();
  bool attached = program >= 0 && attach_policy(program, group);
  if (program >= 0) close(program);
  if (attached && chmod(group, LIMITED_MODE)) die("chmod '%s'", group);
  return attached;
}

bool limit_devices(const char *cgroup) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.freeze", cgroup);
  if (access(path, F_OK)) return true; /* v1: it has its own policy */
  snprintf(path, sizeof path, "%s", cgroup);
  char *last = strrchr(path, '/');
  if (!last || last == path) die_because("'%s' is not the cgroup of a cell", cgroup);
  *last = 0;
  return limit_home_devices(path);
}

void verb_limit_devices(char **words) {
  if (!limit_home_devices(words[0])) die_because("the kernel accepts no device policy (BPF) for '%s'", words[0]);
}
