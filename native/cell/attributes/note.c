/* Notes the attributes of a frozen cell. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#include "pipes.h"
#include "queues.h"
#include "report.h"
#include "sockets.h"

struct notes {
  struct noting noting;
  char *text;
  size_t length;
};

static void note_process(struct noting *noting, pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = opendir(path);
  if (!tasks) return; /* it has ended */
  for (struct dirent *entry; (entry = readdir(tasks));)
    if (*entry->d_name != '.') note_thread(noting->to, noting->defaults, process, atoi(entry->d_name));
  closedir(tasks);
  note_descriptors(noting, process);
}

struct notes *note_attributes(const struct defaults *defaults, const char *cgroup) {
  char path[PATH_MAX];
  struct notes *notes = require_memory(calloc(1, sizeof *notes));
  notes->noting.defaults = defaults;
  notes->noting.to = require_memory(open_memstream(&notes->text, &notes->length));
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open '%s'", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) note_process(&notes->noting, pid);
  fclose(list);
  if (notes->noting.first) {
    note_named_queues(&notes->noting, notes->noting.first); /* enters the namespace */
    note_undo(notes->noting.to, cgroup);
  }
  note_pipes(&notes->noting);
  note_backlogs(&notes->noting);
  return notes;
}

void finish_attributes(struct notes *notes) { note_doubtful(&notes->noting); }

void print_attributes(const struct notes *notes) {
  if (fflush(notes->noting.to)) die("write to memory");
  fwrite(notes->text, 1, notes->length, stdout);
  puts("noted 1 1 -"); /* all of it: CRIU may not have seen some */
}
