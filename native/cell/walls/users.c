/* User namespaces. A life of an environment has ids of its own: 0..count-1 inside are base.. outside. On
 * disk all environments have the same ones, which mounts shift: what one of them wrote is a layer of
 * another, and nobody who breaks out of a cell has a neighbour's ids. */
#define _GNU_SOURCE
#include "cell.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int open_user_namespace(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open", path);
  return fd;
}

static void write_maps(pid_t pid, const char *map) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
  write_file(path, map);
  snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
  write_file(path, map);
}

static void describe_cell_ids(const struct spec *spec, char *map, size_t size) {
  snprintf(map, size, "0 %u %u\n", spec->id_base, spec->id_count);
}

void map_users(const struct spec *spec, pid_t pid) {
  char map[64];
  describe_cell_ids(spec, map, sizeof map);
  write_maps(pid, map);
}

pid_t start_mapping(void) {
  const pid_t parent = getpid();
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) die("clone3", "user namespace");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0); /* it was killed before */
    syscall(SYS_close_range, 0, ~0U, 0); /* nobody waits for this one to let go of something */
    pause();
    _exit(0);
  }
  return pid;
}

static int finish_mapping(pid_t holder, const char *map) {
  write_maps(holder, map);
  int fd = open_user_namespace(holder);
  kill(holder, SIGKILL);
  waitpid(holder, NULL, 0);
  return fd;
}

int map_cell_ids(const struct spec *spec, pid_t holder) {
  char map[64];
  describe_cell_ids(spec, map, sizeof map);
  return finish_mapping(holder, map);
}

/* OverlayFS makes its own files as the one who mounted it, who is root outside. */
int map_disk_ids(const struct spec *spec, pid_t holder) {
  char map[128];
  snprintf(map, sizeof map, "0 0 1\n%u %u %u\n", spec->disk_base, spec->id_base, spec->id_count);
  return finish_mapping(holder, map);
}
