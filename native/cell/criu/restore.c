/* A restore: what CRIU finds in its jail, and what to clean up if it fails. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names.h"
#include "report.h"
#include "stage.h"
#include "walls.h"
#include "worker.h"

#define WORK_DIRECTORY 100 /* also in src/criu/criu-request.ts */

/* The request names this descriptor as the directory that CRIU writes its log to. */
static void open_work_directory(const struct jail *jail) {
  move_to(jail->inside);
  int dir = open(JAIL_TMP, O_PATH | O_DIRECTORY);
  if (dir < 0) die("open '%s'", JAIL_TMP);
  if (dup2(dir, WORK_DIRECTORY) < 0) die("dup2 to %d", WORK_DIRECTORY);
  close(dir);
  move_to(jail->outside);
}

static void replace_images(const struct jail *jail, const char *images, struct block *replacements) {
  move_to(jail->inside);
  while (replacements->length) {
    struct block name = take_block(replacements), content = take_block(replacements);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.*s", images, (int)name.length, name.bytes);
    replace_file(path, content.bytes, content.length);
  }
  move_to(jail->outside);
}

static void show_groups(const struct jail *jail, const struct birth *birth) {
  for (size_t i = 0; i < birth->count; i++)
    if (birth->groups[i].leave) show(jail, birth->groups[i].leave, 0);
}

/* preload/first-process.c reads it. */
static void write_birth(const struct birth *birth) {
  FILE *file = fopen(JAIL_BIRTH, "we");
  if (!file) die("open '%s'", JAIL_BIRTH);
  fprintf(file, "%u\n", birth->owner);
  for (size_t i = 0; i < birth->count; i++) {
    fprintf(file, "%s", birth->groups[i].enter);
    fprintf(file, birth->groups[i].leave ? "\t%s\n" : "\n", birth->groups[i].leave);
  }
  if (fclose(file)) die("write '%s'", JAIL_BIRTH);
}

/* Copies the log from the jail to the environment's directory, where people can find it. What cannot be copied is
 * left out: the restore has already failed. */
static void keep_log(int directory) {
  char bytes[65536];
  int from = open(JAIL_TMP "/restore.log", O_RDONLY | O_CLOEXEC);
  int to = openat(directory, "restore.log", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  for (ssize_t n; from >= 0 && to >= 0 && (n = read(from, bytes, sizeof bytes)) > 0;)
    if (write(to, bytes, (size_t)n) != n) break;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

/* Ends processes that wait for a CRIU that is gone. As orphans they are children of this worker. */
static void end_orphans(const struct job *job) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  do {
    FILE *children = fopen(path, "re");
    for (int pid; children && fscanf(children, "%d", &pid) == 1;) kill(pid, SIGKILL);
    if (children) fclose(children);
    if (job->spec.hold || needs_stop(job)) let_killed_end(job->spec.cgroups[0]);
  } while (waitpid(-1, NULL, 0) > 0);
}

int restore(const struct criu *criu, struct job *job, const struct jail *jail, struct mapping_holders holders,
            const struct block *request, struct block *rest) {
  require_cell(&job->spec);
  if (job->spec.cgroup_count) limit_devices(job->spec.cgroups[0]);
  if (job->spec.waits && job->spec.cgroup_count) read_waits(&job->waits, job->spec.waits);
  if (job->spec.attributes && job->spec.cgroup_count) read_attributes(&job->attributes, job->spec.attributes);
  if (job->spec.pairs && job->spec.cgroup_count) read_spots(&job->spots, job->spec.pairs);
  struct block names = take_block(rest);
  show(jail, job->spec.images, MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);
  replace_images(jail, job->spec.images, rest);
  open_work_directory(jail);
  /* CRIU prepares while we do the rest. It waits for us before it makes the first process. */
  send_request(criu, request);
  struct mappings mappings = {map_cell_ids(&job->spec, holders.cell), map_disk_ids(&job->spec, holders.disk)};
  struct doorway groups[MOST_GROUPS];
  struct birth birth = {.owner = job->spec.id_base, .count = groups_to_enter(&job->spec, groups), .groups = groups};
  show_groups(jail, &birth);
  stage_mounts(&job->spec, mappings);
  require_mountpoints();
  check_names(names.bytes, names.length);
  int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* of the environment */
  show_stage(jail);
  write_birth(&birth);
  struct answer answer = {0};
  bool answered = converse(criu, job, &answer);
  if (answered && answer.success) return 0;
  end_orphans(job);
  keep_log(directory);
  return fail_job(&answer, answered);
}
