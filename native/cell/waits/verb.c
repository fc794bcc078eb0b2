/* Keeps the waits of a cell over a snapshot. One process for all of it, so that what it knows stays in memory:
 *
 *   1. It notes since when threads wait, and prints "noted".
 *   2. The caller freezes the cell. As soon as that shows, the process notes which calls were interrupted. Until then
 *      it keeps IMAGES locked, where the cell is to be dumped: CRIU changes what the kernel tells about calls. If there
 *      is a DIRECTORY, it also lists the areas of large processes there (see areas.h).
 *   3. The caller dumps the cell, and writes "continue". The process stops all threads, thaws the cell, puts right what
 *      was ended, and lets them go. With "hold", it freezes the cell again before that. With "end", it changes nothing.
 *      After "continue" or "hold" there may be the agent's pid, the name of the snapshot, and the directory of the
 *      life: then it also has the kernel note what is written from now on (see tracking.h). With a second line
 *      "remapped", it maps memory from files instead (see remap.h). "live" and "prepare" are like "continue" when
 *      nothing was dumped, for a copy of the memory while the cell runs (see live.c).
 *   4. It prints a line for each thread that a copy of the cell may have to look after: PROCESS THREAD CALL LEFT
 *      INSTRUCTION STACK HOW. Numbers are as inside, what is left is in nanoseconds or -1, and the last word says how
 * the call continues: "again", "restart" if CRIU restarts it, or "code" if the thread is in code of ours. Lines that
 *      begin with a word are other attributes that CRIU does not keep (see attributes.h). They are read beside the
 * dump.
 *
 * The end of input means that the caller is gone: nothing is changed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "areas.h"
#include "attributes.h"
#include "holder.h"
#include "remap.h"
#include "report.h"
#include "shared/owned.h"
#include "waits.h"
#include "walls.h"

#define MOST_URGENT -20
#define GLANCE_MS 1 /* v1 does not tell when the state changes */

struct freezer {
  int fd;
  const char *frozen; /* what it says then */
};

static struct freezer open_freezer(const char *cgroup) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.events", cgroup);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return (struct freezer){fd, "frozen 1"};
  snprintf(path, sizeof path, "%s/freezer.state", cgroup);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  return (struct freezer){fd, "FROZEN"};
}

static bool is_frozen(const struct freezer *freezer) {
  char text[256];
  ssize_t length = pread(freezer->fd, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  return strstr(text, freezer->frozen);
}

/* Or until the word comes: a cell that cannot be frozen as a whole has to continue, too. */
static void await_freeze(const struct freezer *freezer) {
  struct pollfd either[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = freezer->fd, .events = POLLPRI}};
  while (!is_frozen(freezer) && !either[0].revents)
    if (poll(either, 2, GLANCE_MS) < 0 && errno != EINTR) die("poll");
}

/* A worker that dumps there waits for the lock. -1: nothing will be dumped. */
static int hold_back_dump(const char *images) {
  if (!images) return -1;
  int fd = open(images, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", images);
  if (flock(fd, LOCK_EX)) die("flock '%s'", images);
  return fd;
}

static void put_all_right(struct group *group, const struct waits *waits, const struct waits *before) {
  uint64_t passed = monotonic_now() - waits->frozen;
  for (size_t i = 0; i < group->thread_count; i++) {
    const struct thread *thread = &group->threads[i];
    const struct wait *wait = find_wait(waits, thread->id);
    struct wait late;
    if (wait)
      put_right(group, thread, wait, passed);
    else if (thread->is_stopped && find_late(group->processes[thread->process].pid, thread->id, before, &late))
      put_right(group, thread, &late, 0);
  }
}

static const char *how(const struct wait *wait) {
  return wait->is_in_code ? "code" : wait->call.end == ENDED ? "again" : "restart";
}

static void print_waits(const struct waits *waits) {
  for (size_t i = 0; i < waits->count; i++) {
    const struct wait *wait = &waits->list[i];
    printf("%d %d %ld %ld %lu %lu %s\n", wait->status.process, wait->status.thread, wait->number, wait->left,
           wait->instruction, wait->stack, how(wait));
  }
}

struct order {
  char word[16], snapshot[MOST_NAME], directory[PATH_MAX];
  int agent;
  bool remaps;
};

/* False at the end of input. */
static bool read_order(struct order *order) {
  char line[sizeof *order];
  *order = (struct order){0};
  if (!fgets(line, sizeof line, stdin)) return false;
  sscanf(line, "%15s %d %63s %4095[^\n]", order->word, &order->agent, order->snapshot, order->directory);
  order->remaps = fgets(line, sizeof line, stdin) && !strcmp(line, "remapped\n");
  return true;
}

static bool says(const struct order *order, const char *word) { return !strcmp(order->word, word); }

/* Writes are noted first: what is put right after the dump must not be missing in the next one. */
static void let_continue(const char *cgroup, const struct waits *waits, const struct waits *before,
                         const struct order *order) {
  struct group group;
  struct tracker tracker = {.holder = -1, .notes = -1, .why_not = "nobody asked for it"};
  struct parks parks = {0};
  enum purpose purpose = says(order, "live") ? FOR_COPY : says(order, "prepare") ? FOR_ARMING : AFTER_DUMP;
  enum freeing freeing = says(order, "hold") ? FREE_AT_ONCE : FREE_LATER; /* a frozen process cannot free anything */
  if (*order->directory && !order->remaps)
    tracker = track_frozen(order->directory, order->agent, order->snapshot, purpose);
  stop_group(&group, cgroup);
  track_stopped(&tracker, &group);
  if (order->remaps) parks = remap_stopped(&group, order->agent, order->directory, freeing);
  put_all_right(&group, waits, before);
  if (says(order, "hold")) set_frozen(cgroup, true);
  let_go(&group);
  free_parks(&parks, cgroup);
}

/* CRIU works meanwhile, and needs the CPUs more. */
static struct notes *note_beside_dump(const struct defaults *defaults, const char *cgroup) {
  setpriority(PRIO_PROCESS, 0, 0);
  struct notes *notes = note_attributes(defaults, cgroup);
  setpriority(PRIO_PROCESS, 0, MOST_URGENT);
  return notes;
}

void verb_waits(char **words) {
  const char *cgroup = words[0], *images = words[1], *directory = images ? words[2] : NULL;
  struct waits before = {0}, waits = {0};
  struct defaults defaults = take_defaults(); /* before this process gets others */
  struct order order;
  struct freezer freezer = open_freezer(cgroup);
  setpriority(PRIO_PROCESS, 0, MOST_URGENT); /* all others stand still until this is done */
  /* What a frozen cell waits for stands still, and nobody knows since when it did. */
  if (!is_frozen(&freezer)) {
    await_unparked(cgroup);
    look_before(&before, cgroup);
  }
  struct lister lister = directory ? prepare_lister(cgroup) : (struct lister){.program = -1};
  autoclose int dump = hold_back_dump(images);
  puts("noted");
  if (fflush(stdout)) die("write stdout");
  await_freeze(&freezer);
  bool frozen = is_frozen(&freezer); /* later, CRIU thaws it */
  look_after(&waits, &before, cgroup);
  if (dump >= 0) flock(dump, LOCK_UN);
  if (directory && frozen) write_listings(&lister, cgroup, directory);
  struct notes *notes = images && frozen ? note_beside_dump(&defaults, cgroup) : NULL;
  if (!read_order(&order)) return;
  if (notes) finish_attributes(notes);
  if (!says(&order, "end")) let_continue(cgroup, &waits, &before, &order);
  print_waits(&waits);
  if (notes) print_attributes(notes);
}
