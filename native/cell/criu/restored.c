/* What a restored cell is given while its first process exists and has not run. */
#define _GNU_SOURCE
#include "cell.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void set_up_network(const struct spec *spec, pid_t pid) {
  if (spec->veth)
    connect_cell(spec, pid);
  else
    enter_network(pid);
  bring_loopback_up();
}

void set_hostname(const char *hostname, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/uts", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open", path);
  if (setns(fd, CLONE_NEWUTS)) die("setns", path);
  if (sethostname(hostname, strlen(hostname))) die("sethostname", hostname);
  close(fd);
}
