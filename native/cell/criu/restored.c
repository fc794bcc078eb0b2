/* What a restored cell gets while its first process exists but has not run yet. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "criu.h"
#include "network.h"
#include "report.h"

void set_up_network(const struct spec *spec, pid_t pid) {
  if (spec->veth)
    connect_cell(spec, pid);
  else if (spec->address)
    stand_alone(spec, pid);
  else
    enter_network(pid);
  bring_loopback_up();
}

void set_hostname(const char *hostname, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/uts", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  if (setns(fd, CLONE_NEWUTS)) die("setns to '%s'", path);
  if (sethostname(hostname, strlen(hostname))) die("sethostname '%s'", hostname);
  close(fd);
}

void verb_hostname(char **words) { set_hostname(words[1], parse_pid(words[0])); }
