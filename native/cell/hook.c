/* CRIU's action script. CRIU tells the action and the restored first process in
 * the environment; ours tells the rest:
 *
 *   FORKPOINT_HOSTNAME          of the restored cell, which may be a fork
 *   FORKPOINT_NET               interface address gateway prefix, or unset
 *   FORKPOINT_SOCKET            the agent's socket, as the host sees it
 *   FORKPOINT_SOCKET_IDENTITY   file to record what the agent bound there
 *   FORKPOINT_HOLD              cgroup to freeze before anything runs, or unset */
#define _GNU_SOURCE
#include "cell.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static pid_t restored_process(void) {
  const char *text = getenv("CRTOOLS_INIT_PID");
  pid_t pid = text ? (pid_t)atoi(text) : 0;
  if (pid <= 0) die_usage("CRTOOLS_INIT_PID", text);
  return pid;
}

static void set_up_network(pid_t pid) {
  const char *net = getenv("FORKPOINT_NET");
  if (net && *net) {
    char interface[16], address[16], gateway[16];
    struct spec spec = {.veth = interface, .address = address, .gateway = gateway};
    if (sscanf(net, "%15s %15s %15s %u", interface, address, gateway, &spec.prefix) != 4)
      die_usage("FORKPOINT_NET", net);
    connect_cell(&spec, pid);
  } else {
    enter_network(pid);
  }
  bring_loopback_up();
}

static void set_hostname(pid_t pid) {
  const char *hostname = getenv("FORKPOINT_HOSTNAME");
  if (hostname) name_cell(pid, hostname);
}

/* Before the first restored instruction: afterwards the sandbox could have put
 * something else at that path. */
static void record_socket(void) {
  const char *socket = getenv("FORKPOINT_SOCKET"), *record = getenv("FORKPOINT_SOCKET_IDENTITY");
  if (!socket || !record) return;
  struct statx info;
  if (statx(AT_FDCWD, socket, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &info)) die("statx", socket);
  int fd = open(record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) die("open", record);
  unsigned long long dev = makedev(info.stx_dev_major, info.stx_dev_minor);
  int written = dprintf(fd, "%llu %llu %llu\n", dev, (unsigned long long)info.stx_ino,
          info.stx_btime.tv_sec * 1000000000ULL + info.stx_btime.tv_nsec);
  if (written < 0 || close(fd)) die("write", record);
}

int run_hook(void) {
  const char *action = getenv("CRTOOLS_SCRIPT_ACTION");
  if (!strcmp(action, "setup-namespaces")) set_up_network(restored_process());
  if (!strcmp(action, "post-setup-namespaces")) set_hostname(restored_process());
  if (!strcmp(action, "pre-resume")) {
    record_socket();
    hold_cell();
  }
  return 0;
}
