/* Gives the processes of a frozen cell a userfaultfd, and has the holder arm them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "holder.h"
#include "report.h"
#include "shared/owned.h"
#include "spec.h"

bool get_list(int holder, struct list *list) {
  *list = (struct list){0};
  struct request request = {.kind = LIST};
  if (!send_packet(holder, &request, sizeof request, -1)) return false;
  for (;;) {
    struct listed part[LISTED_AT_ONCE];
    int none;
    ssize_t length = receive_packet(holder, part, sizeof part, &none);
    size_t count = length > 0 ? (size_t)length / sizeof *part : 0;
    if (!count) return false;
    list->all = require_memory(realloc(list->all, (list->count + count) * sizeof *part));
    memcpy(list->all + list->count, part, count * sizeof *part);
    list->count += count;
    if (list->all[list->count - 1].pid) continue;
    list->count--;
    return true;
  }
}

const struct listed *find_listed(const struct list *list, pid_t pid) {
  for (size_t i = 0; i < list->count; i++)
    if (list->all[i].pid == pid) return &list->all[i];
  return NULL;
}

static int take_out(pid_t pid, long number) {
  autoclose int process = (int)syscall(SYS_pidfd_open, pid, 0);
  return process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
}

/* The program never sees the descriptor: it is closed again before anything inside runs. */
static int make_inside(struct group *group, const struct thread *thread, pid_t pid) {
  struct error error;
  long number, ignored;
  uint64_t flags[6] = {O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY};
  if (inject_syscall(group, thread, SYS_userfaultfd, flags, &number, &error) || number < 0) return -1;
  int faults = take_out(pid, number);
  if (inject_syscall(group, thread, SYS_close, (uint64_t[6]){(uint64_t)number}, &ignored, &error)) {
    fprintf(stderr, "pid %d keeps descriptor %ld: %s\n", pid, number, error.text);
  }
  return faults;
}

/* A process without a descriptor is dumped in full. */
static bool add_process(int holder, struct group *group, const struct process *process) {
  const struct thread *thread = stopped_thread(group, process);
  autoclose int faults = thread ? make_inside(group, thread, process->pid) : -1;
  struct request request = {.kind = HOLD, .pid = process->pid};
  return faults >= 0 && send_packet(holder, &request, sizeof request, faults);
}

/* The holder may also have ended since, or be stuck. Then there is a new one. -1 with errno if there cannot be one. */
static int find_holder(const char *directory, pid_t agent, struct list *list) {
  int holder = connect_in(directory);
  if (holder >= 0 && get_list(holder, list)) return holder;
  if (holder >= 0) close(holder);
  *list = (struct list){0};
  return start_holder(directory, agent) ? connect_in(directory) : -1;
}

/* Arms everything that the holder has and that is not yet armed for this snapshot. The name comes second: it says that
 * nothing has run meanwhile. */
static bool arm_all(struct tracker *tracker) {
  struct armed armed;
  struct request request = {.kind = ARM};
  int none;
  snprintf(request.name, sizeof request.name, "%s", tracker->name);
  if (!send_packet(tracker->holder, &request, sizeof request, tracker->notes)) return false;
  if (receive_packet(tracker->holder, &armed, sizeof armed, &none) != (ssize_t)sizeof armed) return false;
  request.kind = NAME;
  return send_packet(tracker->holder, &request, sizeof request, -1);
}

int open_notes(const char *directory, int flags) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/" NOTES_NAME, directory);
  return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0600);
}

struct tracker track_frozen(const char *directory, pid_t agent, const char *name, enum purpose purpose) {
  struct tracker tracker = {.holder = -1, .notes = -1, .name = name, .purpose = purpose};
  tracker.why_not = why_not_trackable();
  if (tracker.why_not) return tracker;
  if (purpose == FOR_COPY) tracker.notes = open_notes(directory, 0);
  tracker.holder = find_holder(directory, agent, &tracker.list);
  if (tracker.holder < 0)
    tracker.why_not = "the holder cannot be started";
  else if (tracker.list.count && purpose != FOR_ARMING && !arm_all(&tracker))
    tracker.why_not = "the holder does not answer";
  return tracker;
}

/* If anything fails, the next dump is complete. */
void track_stopped(struct tracker *tracker, struct group *group) {
  size_t added = 0;
  if (!tracker->why_not && stands_still(group))
    for (size_t i = 0; i < group->process_count; i++)
      if (!find_listed(&tracker->list, group->processes[i].pid))
        added += add_process(tracker->holder, group, &group->processes[i]);
  if (added && tracker->purpose != FOR_ARMING) arm_all(tracker);
  if (tracker->holder >= 0) close(tracker->holder);
  if (tracker->notes >= 0) close(tracker->notes);
  free(tracker->list.all);
}
