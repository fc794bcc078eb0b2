/* Frees memory that was moved aside. Only the process itself can do that, so one of its threads stops for a moment,
 * again and again, and does a part of it. The others continue. If this process is killed, the rest stays until theirs
 * ends: it takes up memory, and nothing is wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "remap.h"
#include "shared/owned.h"
#include "waits.h"

#define PART_BYTES (32ULL << 20) /* measured: the thread stops for 2 to 6 ms */
#define GAP_NS 3000000
#define MOST_TRIES 1000
#define PATIENCE_MS 10000

/* Whether it is still memory without a file. The kernel shows nothing once the process has become another program. */
static bool is_parked(const struct park *park) {
  int fd = dup(park->areas);
  if (fd < 0 || lseek(fd, 0, SEEK_SET)) return false;
  FILE *areas = fdopen(fd, "r");
  autofree char *line = NULL;
  size_t room = 0;
  uint64_t at = park->start, start, end;
  while (areas && at < park->end && getline(&line, &room, areas) > 0) {
    char mode[8];
    unsigned long inode;
    if (sscanf(line, "%lx-%lx %7s %*x %*s %lu", &start, &end, mode, &inode) != 4 || end <= at) continue;
    if (start > at || inode || mode[3] != 'p') break;
    at = end;
  }
  if (areas) fclose(areas);
  return at >= park->end;
}

static void free_part(struct group *group, struct park *park) {
  uint64_t end = park->end - park->start > PART_BYTES ? park->start + PART_BYTES : park->end;
  uint64_t arguments[6] = {park->start, end - park->start};
  struct error ignored;
  long result;
  if (inject_syscall(group, group->threads, SYS_munmap, arguments, &result, &ignored) || result)
    park->start = park->end; /* not without doubt, so the rest stays */
  else
    park->start = end;
}

/* What the thread waits for goes on, as after a freeze. */
static void continue_wait(struct group *group, const struct waits *before) {
  struct waits waits;
  look_after_process(&waits, before, group->processes->pid);
  const struct wait *wait = find_wait(&waits, group->threads->id);
  if (wait) put_right(group, group->threads, wait, 0);
  free(waits.list);
}

/* False if the process cannot be stopped now, as between vfork and exec. */
static bool visit(struct park *park) {
  struct group group;
  struct waits before;
  look_before_process(&before, park->pid);
  bool stopped = stop_one(&group, park->pid);
  if (!is_parked(park))
    park->start = park->end; /* it has ended, or become another program */
  else if (stopped) {
    free_part(&group, park);
    continue_wait(&group, &before);
  }
  let_go(&group);
  free(before.list);
  return stopped;
}

static void free_park(struct park *park) {
  for (int tries = 0; park->start < park->end && tries < MOST_TRIES;) {
    if (!visit(park)) tries++;
    nanosleep(&(struct timespec){.tv_nsec = GAP_NS}, NULL);
  }
}

/* A lock on the cgroup: whoever wants to stop the cell waits until nobody else does. */
static int lock(const char *cgroup) {
  autoclose int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) return -1;
  return fcntl(fd, F_DUPFD_CLOEXEC, KEPT_OPEN);
}

void await_unparked(const char *cgroup) {
  autoclose int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int waited = 0; fd >= 0 && waited < PATIENCE_MS && flock(fd, LOCK_SH | LOCK_NB); waited++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Nothing that the caller waits for, or that keeps a volume busy, may stay open. */
static void leave_caller(void) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3; i++)
    if (dup2(null, i) < 0) _exit(1);
  setsid();
  setpriority(PRIO_PROCESS, 0, 0);
  if (syscall(SYS_close_range, 3, KEPT_OPEN - 1, 0) || chdir("/")) _exit(1);
}

void free_parks(struct parks *parks, const char *cgroup) {
  autoclose int held = parks->count ? lock(cgroup) : -1;
  if (parks->count && !fork()) {
    leave_caller();
    for (size_t i = 0; i < parks->count; i++) free_park(&parks->list[i]);
    _exit(0);
  }
  for (size_t i = 0; i < parks->count; i++) close(parks->list[i].areas);
  free(parks->list);
  *parks = (struct parks){0};
}
