/* Puts back what was noted of the original, before a copy of it runs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "pipes.h"
#include "queues.h"
#include "report.h"
#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define MOST_LINES (1 << 20)

static const struct attribute_kind kinds[] = {
    {"affinity", THREAD, false, put_affinity},
    {"backlog-lost", DESCRIPTOR, true, put_backlog_lost},
    {"connection", CONNECTION, false, put_connection},
    {"core-filter", THREAD, false, put_core_filter},
    {"datagram", DESCRIPTOR, false, put_datagram},
    {"half-datagram", DESCRIPTOR, true, put_half_datagram},
    {"half-lost", DESCRIPTOR, true, put_half_datagram},
    {"io-priority", THREAD, false, put_io_priority},
    {"locked-on-fault", INSIDE, false, put_lock},
    {"locked-future", INSIDE, false, put_future},
    {"machine-checks", INSIDE, false, put_machine_checks},
    {"member", DESCRIPTOR, false, put_membership},
    {"notify", INSIDE, true, put_notification},
    {"option", DESCRIPTOR, false, put_option},
    {"overflow", DESCRIPTOR, false, put_overflow},
    {"packet-mode", DESCRIPTOR, true, put_packet_mode},
    {"personality", INSIDE, false, put_personality},
    {"pipe", DESCRIPTOR, true, put_pipe},
    {"push", CONNECTION, false, put_push},
    {"queue", THREAD, true, put_queue},
    {"queued", DESCRIPTOR, true, put_queued},
    {"reset", CONNECTION, false, put_reset},
    {"sealed", INSIDE, true, put_seal},
    {"segments", DESCRIPTOR, false, put_segments},
    {"shut", DESCRIPTOR, true, put_shut},
    {"table-again", DESCRIPTOR, true, put_table_again},
    {"timer-slack", THREAD, false, put_timer_slack},
    {"told-stop", INSIDE, false, put_told_stop},
    {"undo", INSIDE, false, put_undo},
    {"unread", DESCRIPTOR, true, put_unread},
    {"write-or-execute", INSIDE, true, put_denial},
};

enum pass { OTHERS, CONNECTIONS };

static const struct attribute_kind *find_kind(const char *word) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i].word, word)) return &kinds[i];
  return NULL;
}

static bool parse_line(char *line, struct attribute *attribute) {
  char word[32];
  int at = 0;
  line[strcspn(line, "\n")] = 0;
  if (sscanf(line, "%31s %d %d %n", word, &attribute->process, &attribute->number, &at) != 3 || !at) return false;
  attribute->kind = find_kind(word);
  attribute->value = require_memory(strdup(line + at));
  return attribute->kind;
}

static void add(struct attributes *attributes, const struct attribute *attribute) {
  size_t count = attributes->count;
  if (!(count & (count - 1)))
    attributes->list = require_memory(realloc(attributes->list, (count ? 2 * count : 1) * sizeof *attributes->list));
  attributes->list[attributes->count++] = *attribute;
  if (attribute->kind->needs == INSIDE) attributes->needs_stop = true;
  if (attribute->kind->needs == CONNECTION) attributes->has_connections = true;
}

void read_attributes(struct attributes *attributes, const char *path) {
  autofree char *line = NULL;
  size_t room = 0;
  struct attribute attribute;
  *attributes = (struct attributes){0};
  FILE *file = fopen(path, "re");
  if (!file) die("open '%s'", path);
  while (getline(&line, &room, file) > 0) {
    if (attributes->count == MOST_LINES) die_because("'%s' has more than %d lines", path, MOST_LINES);
    if (!parse_line(line, &attribute)) die_because("'%s' has a line that is no attribute: %s", path, line);
    add(attributes, &attribute);
  }
  if (!feof(file)) die("read '%s'", path);
  fclose(file);
}

/* Without most of them, a copy is complete, so it starts. */
static void report(const struct attribute *attribute, int code) {
  if (!code) return;
  if (attribute->kind->is_needed)
    die_because("%s of process %d, number %d, was not put back: %s", attribute->kind->word, attribute->process,
                attribute->number, strerror(code));
  fprintf(stderr, "%s of process %d, number %d, was not put back: %s\n", attribute->kind->word, attribute->process,
          attribute->number, strerror(code));
}

static pid_t find_thread(pid_t process, int inside) {
  char path[64];
  struct status status;
  pid_t found = 0;
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && !found && (entry = readdir(tasks));) {
    pid_t thread = atoi(entry->d_name);
    if (thread && read_status(process, thread, &status) && status.thread == inside) found = thread;
  }
  if (tasks) closedir(tasks);
  return found;
}

static int put_back(const struct attribute *attribute, pid_t process, const char *images) {
  struct target target = {.process = process, .descriptor = -1, .images = images};
  if (attribute->kind->needs == DESCRIPTOR || attribute->kind->needs == CONNECTION)
    target.descriptor = attribute->number;
  else if (!(target.thread =
                 attribute->number == attribute->process ? process : find_thread(process, attribute->number)))
    return ESRCH;
  return attribute->kind->put(&target, attribute->value);
}

static bool belongs_to(const struct attribute *attribute, enum pass pass) {
  int needs = attribute->kind->needs;
  return needs != INSIDE && (needs == CONNECTION) == (pass == CONNECTIONS);
}

/* One pass over the processes for all attributes, of which there are few. */
static void put_all_back(const struct attributes *attributes, const char *cgroup, const char *images, enum pass pass) {
  char path[PATH_MAX];
  struct status status;
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open '%s'", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) {
    if (!read_status(pid, pid, &status)) continue;
    for (size_t i = 0; i < attributes->count; i++) {
      const struct attribute *attribute = &attributes->list[i];
      if (attribute->process == status.process && belongs_to(attribute, pass))
        report(attribute, put_back(attribute, pid, images));
    }
  }
  fclose(list);
}

void put_attributes_back(const struct attributes *attributes, const char *cgroup, const char *images) {
  put_all_back(attributes, cgroup, images, OTHERS);
  if (attributes->has_connections) put_all_back(attributes, cgroup, images, CONNECTIONS);
}

void put_back_inside(const struct attributes *attributes, struct group *group) {
  struct status status;
  for (size_t i = 0; attributes->needs_stop && i < group->thread_count; i++) {
    const struct thread *thread = &group->threads[i];
    pid_t process = group->processes[thread->process].pid;
    if (!thread->is_stopped || !read_status(process, thread->id, &status)) continue;
    struct target target = {.process = process, .thread = thread->id, .group = group, .in_group = thread};
    for (size_t j = 0; j < attributes->count; j++) {
      const struct attribute *attribute = &attributes->list[j];
      if (attribute->kind->needs == INSIDE && attribute->process == status.process &&
          attribute->number == status.thread)
        report(attribute, attribute->kind->put(&target, attribute->value));
    }
  }
}
