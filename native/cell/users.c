/* The user namespace: ids 0..count-1 inside are base.. outside, for uids and gids. */
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

void map_users(const struct spec *spec, pid_t pid) {
  char path[64], map[64];
  snprintf(map, sizeof map, "0 %u %u\n", spec->id_base, spec->id_count);
  snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
  write_file(path, map);
  snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
  write_file(path, map);
}

int mapping_namespace(const struct spec *spec) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) die("clone3", "user namespace");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause();
    _exit(0);
  }
  map_users(spec, pid);
  int fd = open_user_namespace(pid);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  return fd;
}
