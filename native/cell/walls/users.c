/* User namespaces. Each life of an environment has ids of its own: 0 to COUNT - 1 inside are BASE and up outside.
 * On disk all environments have the same ids, which idmapped mounts shift: the files of one can become a layer of
 * another, and whoever breaks out of a cell still does not have a neighbour's ids. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "walls.h"

int open_user_namespace(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
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
  if (pid < 0) die("clone3 of a user namespace");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);   /* the parent was killed before the call above */
    syscall(SYS_close_range, 0, ~0U, 0); /* somebody may wait for the end of a pipe that is open here too */
    pause();
    _exit(0);
  }
  return pid;
}

static int finish_mapping(pid_t holder, const char *map) {
  write_maps(holder, map);
  int fd = open_user_namespace(holder);
  kill(holder, SIGKILL); /* nobody waits for it: we end soon, too */
  return fd;
}

int map_cell_ids(const struct spec *spec, pid_t holder) {
  char map[64];
  describe_cell_ids(spec, map, sizeof map);
  return finish_mapping(holder, map);
}

/* Root of the host stays root: OverlayFS makes its own files as the user who mounted it. */
int map_disk_ids(const struct spec *spec, pid_t holder) {
  char map[128];
  snprintf(map, sizeof map, "0 0 1\n%u %u %u\n", spec->disk_base, spec->id_base, spec->id_count);
  return finish_mapping(holder, map);
}
