/* Looks up watched files whose names the kernel has forgotten (watches.h). Only the inode number is known, so the file
 * is searched for where it is likely, and then everywhere. The names come from the layers, where nobody inside can be
 * watching, and each is looked up in the root of the cell. Only there: a tmpfs forgets no names.
 *
 * stdout: how many files had no name, and how many still have none. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "spec.h"
#include "view.h"
#include "watches.h"

#define SHALLOW 2 /* levels that are searched first, with /etc, /root, src, node_modules and the like */

static struct {
  struct processes processes;
  struct lost lost;
  size_t met;          /* files with such a number, since the list was made */
  int root;            /* of the cell */
  uint64_t mount;      /* that the root is on */
  struct walk *layers; /* that names come from */
  int depth;           /* levels that are left to descend */
} search;

static void read_processes(const char *cgroup) {
  char path[512];
  struct processes *all = &search.processes;
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *file = fopen(path, "re");
  if (!file) die("open '%s'", path);
  for (int pid; fscanf(file, "%d", &pid) == 1;) {
    all->pids = require_memory(realloc(all->pids, (all->count + 1) * sizeof(pid_t)));
    all->pids[all->count++] = pid;
  }
  fclose(file);
}

static bool look_up(int directory, const char *name, struct statx *info) {
  unsigned mask = STATX_TYPE | STATX_INO | STATX_MNT_ID;
  return !statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, info) && info->stx_mnt_id == search.mount;
}

static void open_root(pid_t pid) {
  char path[64];
  struct statx info;
  snprintf(path, sizeof path, "/proc/%d/root", pid);
  search.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (search.root < 0) die("open '%s'", path);
  if (statx(search.root, "", AT_EMPTY_PATH, STATX_MNT_ID, &info)) die("statx '%s'", path);
  search.mount = info.stx_mnt_id;
}

/* Files of different layers can have the same number, so only the kernel's own list is certain. */
static bool none_left(void) {
  struct lost before = search.lost;
  search.lost = find_lost(&search.processes, search.root, &before);
  search.met = 0;
  free(before.inodes);
  return !search.lost.count;
}

/* Counts one more file with a wanted number. True if nothing is left to find. The list is long if many files are
 * missing, so it is made again only when as many files were met as are missing. */
static bool was_last(void) { return ++search.met >= search.lost.count && none_left(); }

/* Whether a layer further up has the name, too. */
static bool is_above(const struct merged *layers, size_t part, const char *name) {
  struct statx info;
  for (size_t i = 0; i < part; i++)
    if (stat_name(layers->parts[i].fd, name, &info)) return true;
  return false;
}

static bool search_below(const struct merged *layers, int directory);

static bool search_name(const struct merged *layers, int directory, const char *name) {
  struct statx info;
  if (!look_up(directory, name, &info)) return false; /* or it is a whiteout */
  if (is_lost(&search.lost, info.stx_ino) && was_last()) return true;
  if (!search.depth || !S_ISDIR(info.stx_mode)) return false;
  autoclose int fd = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct merged *below = fd < 0 ? NULL : descend(layers, name);
  search.depth--;
  bool done = below && search_below(below, fd);
  search.depth++;
  release(below);
  return done;
}

/* Searches a directory of the cell, which is made of these parts of LAYERS. True if nothing is left to find. */
static bool search_below(const struct merged *layers, int directory) {
  bool done = false;
  for (size_t part = 0; part < layers->count && !done; part++) {
    int fd = openat(layers->parts[part].fd, ".", O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) die_open("a directory of a layer");
    for (struct dirent *entry; !done && (entry = readdir(stream));) {
      if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
      if (!is_above(layers, part, entry->d_name)) done = search_name(layers, directory, entry->d_name);
    }
    closedir(stream);
  }
  return done;
}

/* Searches so many levels below PATH, which is relative to the root. True if nothing is left to find. */
static bool search_tree(char *path, int depth) {
  struct found found;
  struct statx info;
  autoclose int directory = open_below(search.root, path);
  if (directory < 0 || !look_up(directory, ".", &info)) return false; /* another mount, or it was deleted */
  if (!resolve(search.layers, path, &found)) return false;
  struct merged *layers = descend(found.parent, found.name);
  search.depth = depth;
  bool done = layers && (search_below(layers, directory) || (search.met && none_left()));
  release(layers);
  return done;
}

static bool search_root(int depth) {
  char path[] = "";
  return search_tree(path, depth);
}

static int by_text(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

/* The working directories of all processes, sorted. The root itself is searched last. */
static size_t read_working_directories(char **list) {
  size_t count = 0;
  for (size_t i = 0; i < search.processes.count; i++) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/cwd", search.processes.pids[i]);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 2 || path[0] != '/') continue; /* the root, or the process has ended */
    path[length] = '\0';
    list[count++] = require_memory(strdup(path + 1));
  }
  if (count) qsort(list, count, sizeof *list, by_text);
  return count;
}

/* Many processes have the same working directory. */
static bool search_working_directories(int depth) {
  autofree char **list = require_memory(calloc(search.processes.count + 1, sizeof *list));
  size_t count = read_working_directories(list);
  bool done = false;
  for (size_t i = 0; i < count && !done; i++)
    if (!i || strcmp(list[i], list[i - 1])) done = search_tree(list[i], depth);
  for (size_t i = 0; i < count; i++) free(list[i]);
  return done;
}

/* How many layers, from the topmost on, were written inside. */
static size_t count_written(char **layers) {
  bool host_ids = false;
  size_t count = 0;
  while (layers[count] && (layer_path(layers[count], &host_ids), !host_ids)) count++;
  return count;
}

/* What was written inside is little, compared with all that is below. */
static void search_layers(char **layers) {
  struct walk *all = walk_layers(layers, count_words(layers)), *written = walk_layers(layers, count_written(layers));
  search.layers = all;
  if (search_root(SHALLOW) || search_working_directories(SHALLOW)) return;
  search.layers = written;
  if (search_root(INT_MAX)) return;
  search.layers = all;
  if (!search_working_directories(INT_MAX)) search_root(INT_MAX);
}

void verb_rewatch(char **words) {
  allow_deep_trees();
  read_processes(words[0]);
  open_root(parse_pid(words[1]));
  search.lost = find_lost(&search.processes, search.root, NULL);
  size_t lost = search.lost.count;
  if (lost) search_layers(words + 2);
  printf("%zu %zu\n", lost, search.lost.count);
}
