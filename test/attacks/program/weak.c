/* A place on the host without isolation: root with all capabilities, no filter, and everything that attacks
 * aim at. It has its own namespaces, so that nothing outside DIRECTORY changes. It only shares with the host
 * what the kernel counts per user, and attacks take little of that here. */
#define _GNU_SOURCE
#include "attack.h"
#include "modes.h"
#include "observe.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(3);
}

static void mount_at(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  if (mount(source, target, type, flags, options)) fail(target);
}

static void make_devices(void) {
  static const struct {
    const char *path;
    unsigned major, minor;
  } nodes[] = {
      {"/dev/null", 1, 3},  {"/dev/full", 1, 7}, {"/dev/zero", 1, 5},   {"/dev/random", 1, 8}, {"/dev/urandom", 1, 9},    {"/dev/tty", 5, 0},
      {"/dev/kmsg", 1, 11},  {"/dev/fuse", 10, 229}, {"/dev/net/tun", 10, 200}, {"/dev/loop-control", 10, 237},
  };
  mount_at("dev", "/dev", "tmpfs", 0, "mode=0755");
  if (mkdir("/dev/net", 0755) || mkdir("/dev/pts", 0755) || mkdir("/dev/shm", 0777)) fail("/dev");
  for (size_t i = 0; i < COUNT(nodes); i++)
    if (mknod(nodes[i].path, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor))) fail(nodes[i].path);
  mount_at("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666");
}

/* The mounts that isolate environments exist here, with nothing that protects them. */
static void make_places(void) {
  mount_at("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
  mount_at("proc", "/proc", "proc", 0, NULL);
  mount_at("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL);
  mount_at("/sys/firmware", "/sys/firmware", NULL, MS_BIND, NULL);
  mount_at("trace", "/sys/kernel/tracing", "tracefs", 0, NULL);
  make_devices();
  mount_at("run", "/run", "tmpfs", 0, "mode=0755");
  if (mkdir("/run/forkpoint", 0755)) fail("/run/forkpoint");
  mount_at("run", "/run/forkpoint", "tmpfs", 0, NULL);
  if (system("ip link set lo up && ip link add dummy0 type veth")) fail("ip");
}

static void name_namespaces(void) {
  static const char *const kinds[] = {"mnt", "pid", "net", "ipc", "uts", "user", "cgroup"};
  for (size_t i = 0; i < COUNT(kinds); i++) {
    char path[64], variable[32], name[64] = {0};
    snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
    snprintf(variable, sizeof variable, "ATTACK_NS_%s", kinds[i]);
    if (readlink(path, name, sizeof name - 1) < 0) fail(path);
    setenv(variable, name, 1);
  }
}

static void name_places(const char *directory) {
  char path[600];
  snprintf(path, sizeof path, "%s/weak", directory);
  setenv("ATTACK_CANARY", path, 1);
  snprintf(path, sizeof path, "%s/weak/mask", directory);
  setenv("ATTACK_MASK_PARENT", path, 1);
  snprintf(path, sizeof path, "%s/weak/mask/masked", directory);
  setenv("ATTACK_MASKED", path, 1);
}

static int attack_there(const char *directory, char **names) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  make_places();
  setenv("ATTACK_WEAK", "1", 1);
  name_namespaces();
  name_places(directory);
  char *passes[] = {"weak", NULL};
  provide_targets(directory, passes);
  begin_observation();
  run_attacks(names);
  tell_observations("weak");
  remove_targets();
  return 0;
}

int run_in_weak_place(const char *directory, char **names) {
  if (getenv("ATTACK_CGROUP") && !write_text(getenv("ATTACK_CGROUP"), "0")) fail("join the cgroup");
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS)) fail("unshare");
  pid_t pid = fork();
  if (pid == 0) exit(attack_there(directory, names));
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define IF_EQUAL(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (otherwise))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))

/* A filter answers instead of the kernel. */
static void pretend(long what) {
  uint32_t number = (uint32_t)what, answer = what >> 32 == 1 ? EINVAL : 0;
  bool is_family = what >> 32 == 3;
  struct sock_filter of_call[] = {
      FIELD(nr),
      IF_EQUAL(number, 1),
      ANSWER(SECCOMP_RET_ERRNO | answer),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  struct sock_filter of_family[] = {
      FIELD(nr),
      IF_EQUAL(SYS_socket, 3),
      FIELD(args[0]),
      IF_EQUAL(number, 1),
      ANSWER(SECCOMP_RET_ERRNO),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {is_family ? COUNT(of_family) : COUNT(of_call), is_family ? of_family : of_call};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) fail("seccomp");
}

void weaken(long pretended) {
  if (unshare(CLONE_NEWNS)) fail("unshare");
  if (pretended) pretend(pretended);
}
