/* The conversation of a worker with CRIU, from the request to the end. During a restore CRIU announces each step, and
 * waits until the worker has done its own part of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "criu.h"
#include "network.h"
#include "report.h"
#include "walls.h"
#include "worker.h"

#define PATIENCE_MS 1000
#define AGENT_SOCKET JAIL_STAGE "/run/agent.sock"
#define FLAG_EXITING 4 /* the kernel's PF_EXITING, in /proc/PID/stat */

static void say_restored(const struct job *job) {
  const struct statx *socket = &job->socket;
  printf("restored %d %llu %llu %llu\n", job->first,
         (unsigned long long)makedev(socket->stx_dev_major, socket->stx_dev_minor), (unsigned long long)socket->stx_ino,
         socket->stx_btime.tv_sec * 1000000000ULL + socket->stx_btime.tv_nsec);
  fflush(stdout);
}

static dev_t device_of_root(void) {
  struct stat root;
  if (stat(JAIL_STAGE "/root", &root)) die("stat '%s'", JAIL_STAGE "/root");
  return root.st_dev;
}

static bool is_linked(const struct spec *spec) { return spec->veth || spec->address; }

static void reach_step(struct job *job, const char *step, pid_t pid) {
  if (!strcmp(step, "setup-namespaces")) {
    job->first = pid;
    join_cgroups(&job->spec, pid); /* before it has children, which would stay behind */
    set_up_network(&job->spec, pid);
    if (job->spec.connections) {
      job->is_locked = lock_network();
      lower_mtu();
    }
    /* Sockets may be bound to an address that it had before its network was taken away. */
    if (!is_linked(&job->spec)) set_absent_addresses(true);
  }
  if (!strcmp(step, "post-setup-namespaces")) set_hostname(job->spec.hostname, job->first);
  /* All sockets exist. The processes themselves take them out of TCP_REPAIR, later. */
  if (!strcmp(step, "network-unlock") && job->spec.connections) {
    put_mtu_back();
    if (job->is_locked) unlock_network();
  }
  if (!strcmp(step, "pre-resume")) {
    /* Before anything runs: afterwards the sandbox could have put another socket there. */
    if (statx(AT_FDCWD, AGENT_SOCKET, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &job->socket))
      die("statx '%s'", AGENT_SOCKET);
    if (!is_linked(&job->spec)) set_absent_addresses(false);
    mask_made_cell(job->first);
    if (job->attributes.count) put_attributes_back(&job->attributes, job->spec.cgroups[0], job->spec.images);
    if (job->spots.count) move_pairs(&job->spots, job->spec.cgroups[0], device_of_root());
    if (job->spec.hold || needs_stop(job)) set_frozen(job->spec.cgroups[0], true);
  }
  /* The processes run and CRIU has detached from all of them. It takes longer to end itself. */
  if (!strcmp(step, "post-resume")) {
    if (needs_stop(job)) continue_copy(&job->waits, &job->attributes, job->spec.cgroups[0], job->spec.hold);
    say_restored(job);
  }
}

static bool caller_is_gone(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  char byte;
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static bool is_ending(pid_t pid) {
  char path[32], line[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *stat = fopen(path, "re");
  if (!stat) return true;
  const char *name_end = fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
  fclose(stat);
  unsigned flags;
  return !name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & FLAG_EXITING;
}

/* Receives one message. The socket does not end when CRIU is killed, because processes that it has restored so far
 * have it open, too. And if these are killed while CRIU traces them, they all wait for each other: CRIU for the first
 * process, that one for the others, and they for their tracer. Then CRIU has to go. */
static ssize_t hear(const struct criu *criu, struct job *job, uint8_t *message, size_t size) {
  struct pollfd either[] = {{.fd = criu->socket, .events = POLLIN}, {.fd = criu->process, .events = POLLIN}};
  for (int heard; (heard = poll(either, 2, PATIENCE_MS)) <= 0;) {
    if (heard < 0 && errno != EINTR) die("poll CRIU");
    if (heard == 0 && job->first && is_ending(job->first))
      syscall(SYS_pidfd_send_signal, criu->process, SIGKILL, NULL, 0);
    job->stalled = heard == 0 && job->is_dump && has_stalled(&job->progress, criu->pid);
    if (!job->stalled) continue;
    end_stalled(criu, &job->spec);
    return 0;
  }
  return recv(criu->socket, message, size, MSG_DONTWAIT);
}

bool converse(const struct criu *criu, struct job *job, struct answer *answer) {
  static uint8_t message[65536];
  for (;;) {
    ssize_t length = hear(criu, job, message, sizeof message);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return false;
    read_answer(message, (size_t)length, answer);
    if (!answer->notifies) return true;
    bool may_continue = !caller_is_gone();
    if (may_continue) reach_step(job, answer->script, answer->pid);
    /* If the last step is refused, CRIU only logs that and lets the processes run. */
    if (!may_continue && job->first) kill(job->first, SIGKILL);
    if (!answer_notification(criu->socket, may_continue)) return false;
  }
}
