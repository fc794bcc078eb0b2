/* The user namespace: ids 0..count-1 inside are base.. outside, for uids and gids. */
#include "cell.h"

#include <fcntl.h>
#include <stdio.h>

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
