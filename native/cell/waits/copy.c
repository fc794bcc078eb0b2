/* The waits of a restored cell. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "report.h"
#include "stub.h"
#include "waits.h"
#include "walls.h"

#define MOST_LINES (1 << 20)

/* `thread` is the number inside, as the images have it. */
void read_waits(struct waits *waits, const char *path) {
  struct wait wait = {0};
  char how[8];
  *waits = (struct waits){0};
  FILE *file = fopen(path, "re");
  if (!file) die("open '%s'", path);
  while (fscanf(file, "%*d %d %ld %ld %lu %lu %7s", &wait.thread, &wait.number, &wait.left, &wait.instruction,
                &wait.stack, how) == 6) {
    if (waits->count == MOST_LINES) die_because("'%s' has more than %d lines", path, MOST_LINES);
    wait.is_in_code = !strcmp(how, "code");
    add_wait(waits, &wait);
  }
  if (!feof(file)) die_because("'%s' is no list of waits", path);
  fclose(file);
  sort_waits(waits);
}

#if defined(__x86_64__)

static void put_copy_right(struct group *group, const struct thread *thread, struct wait wait) {
  registers regs;
  struct error ignored;
  if (!thread->is_stopped || get_registers(thread->id, &regs, &ignored)) return;
  if (wait.is_in_code && may_be_code(regs.rip)) place_code(&group->processes[thread->process], thread->id);
  read_arguments(&regs, wait.arguments);
  wait.call = call_of(wait.number, wait.arguments);
  put_right(group, thread, &wait, 0);
}

#else

static void put_copy_right(struct group *group, const struct thread *thread, struct wait wait) {
  (void)group, (void)thread, (void)wait;
}

#endif

void continue_copy(const struct waits *waits, const struct attributes *attributes, const char *cgroup, bool holds) {
  struct group group;
  struct status inside;
  size_t found = 0;
  stop_group(&group, cgroup);
  put_back_inside(attributes, &group);
  for (size_t i = 0; i < group.thread_count && found < waits->count; i++) {
    if (!read_status(group.threads[i].id, group.threads[i].id, &inside)) continue;
    const struct wait *wait = find_wait(waits, inside.thread);
    if (!wait) continue;
    found++;
    put_copy_right(&group, &group.threads[i], *wait);
  }
  if (holds) set_frozen(cgroup, true);
  let_go(&group);
}
