/* Files that are watched and whose names the kernel has forgotten. A watch holds its inode, not the
 * name it was found by, and under memory pressure that goes. Then CRIU finds no path of the file, or
 * cannot dump the watch at all, as OverlayFS makes no handle of a file without a name. Looking the
 * file up brings it back. All that is known is its inode number, so it is searched: near the root,
 * below the working directories of the processes, and then everywhere.
 *
 * stdout: how many were without a name, and how many are after that. */
#define _GNU_SOURCE
#include "cell.h"
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHALLOW 2 /* levels of directories that are searched first: /etc, /root and the like */

static struct {
  pid_t *processes;
  size_t process_count;
  uint64_t *inodes; /* of watched files without a name, sorted, each once */
  size_t inode_count;
  size_t met;     /* files with such a number since the list was made */
  uint64_t mount; /* the one that is being searched */
  int depth;      /* how many levels below where it began */
} search;

static void read_processes(const char *cgroup) {
  char path[512];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *file = fopen(path, "re");
  if (!file) die("open", path);
  for (int pid; fscanf(file, "%d", &pid) == 1;) {
    search.processes = realloc(search.processes, (search.process_count + 1) * sizeof(pid_t));
    if (!search.processes) die("realloc", "processes");
    search.processes[search.process_count++] = pid;
  }
  fclose(file);
}

union handle {
  struct file_handle head;
  char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

/* "… fhandle-bytes:20 fhandle-type:f8 f_handle:00fb…", numbers in hex */
static bool parse_handle(const char *line, union handle *handle) {
  const char *bytes = strstr(line, "fhandle-bytes:"), *text = strstr(line, "f_handle:");
  if (!bytes || !text || sscanf(bytes, "fhandle-bytes:%x fhandle-type:%x", &handle->head.handle_bytes,
                                (unsigned *)&handle->head.handle_type) != 2)
    return false;
  text += strlen("f_handle:");
  if (handle->head.handle_bytes > MAX_HANDLE_SZ || strlen(text) < 2 * handle->head.handle_bytes) return false;
  for (unsigned i = 0; i < handle->head.handle_bytes; i++) {
    unsigned byte;
    if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
    handle->head.f_handle[i] = (unsigned char)byte;
  }
  return true;
}

static bool leads_back(int root, const char *path, const struct stat *file) {
  struct open_how how = {
      .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
  };
  int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
  struct stat info;
  bool same = fd >= 0 && !fstat(fd, &info) && info.st_ino == file->st_ino && info.st_dev == file->st_dev;
  if (fd >= 0) close(fd);
  return same;
}

/* Whether the kernel knows a name of the file that has this handle. One that was deleted needs none:
 * CRIU keeps its content. */
static bool has_name(pid_t pid, union handle *handle) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/root", pid);
  int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int fd = root < 0 ? -1 : open_by_handle_at(root, &handle->head, O_PATH | O_CLOEXEC);
  bool named = true;
  struct stat info;
  if (fd >= 0 && !fstat(fd, &info) && info.st_nlink) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    named = leads_back(root, path, &info);
  }
  if (fd >= 0) close(fd);
  if (root >= 0) close(root);
  return named;
}

static void add_watches(pid_t pid, const char *fdinfo) {
  FILE *file = fopen(fdinfo, "re");
  if (!file) return; /* closed, or the process has ended */
  char line[1024];
  while (fgets(line, sizeof line, file)) {
    const char *inode = strstr(line, " ino:");
    union handle handle;
    if (strncmp(line, "inotify wd:", 11) || !inode) continue;
    if (parse_handle(line, &handle) && has_name(pid, &handle)) continue;
    search.inodes = realloc(search.inodes, (search.inode_count + 1) * sizeof *search.inodes);
    if (!search.inodes) die("realloc", "watches");
    search.inodes[search.inode_count++] = strtoull(inode + 5, NULL, 16);
  }
  fclose(file);
}

static bool is_inotify(const char *link) {
  char target[32] = "";
  return readlink(link, target, sizeof target - 1) > 0 && !strcmp(target, "anon_inode:inotify");
}

static int by_number(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static void sort_inodes(void) {
  if (!search.inode_count) return;
  qsort(search.inodes, search.inode_count, sizeof *search.inodes, by_number);
  size_t kept = 1;
  for (size_t i = 1; i < search.inode_count; i++)
    if (search.inodes[i] != search.inodes[kept - 1]) search.inodes[kept++] = search.inodes[i];
  search.inode_count = kept;
}

/* Whether any watched file is without a name. */
static bool look_for_watches(void) {
  search.inode_count = search.met = 0;
  for (size_t i = 0; i < search.process_count; i++) {
    char path[64 + NAME_MAX];
    snprintf(path, sizeof path, "/proc/%d/fd", search.processes[i]);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
      snprintf(path, sizeof path, "/proc/%d/fd/%s", search.processes[i], entry->d_name);
      if (!is_inotify(path)) continue;
      snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", search.processes[i], entry->d_name);
      add_watches(search.processes[i], path);
    }
    if (directory) closedir(directory);
  }
  sort_inodes();
  return search.inode_count > 0;
}

static bool is_wanted(uint64_t inode) {
  return search.inode_count && bsearch(&inode, search.inodes, search.inode_count, sizeof inode, by_number);
}

static bool look_up(int directory, const char *name, struct statx *info) {
  unsigned mask = STATX_TYPE | STATX_INO | STATX_MNT_ID;
  return !statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, info);
}

/* Whether nothing is left to be found, after one more that has a wanted number. Numbers of different
 * layers meet, so it may be another file: only the kernel's own list tells. That is long where there is
 * much to be found, so it is read again when as many were met as are missing. */
static bool was_last(void) { return ++search.met >= search.inode_count && !look_for_watches(); }

/* Whether nothing is left to be found. */
static bool search_below(int fd) {
  DIR *directory = fdopendir(fd);
  if (!directory) return close(fd), false;
  bool done = false;
  for (struct dirent *entry; !done && (entry = readdir(directory));) {
    struct statx info;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (!look_up(fd, entry->d_name, &info) || info.stx_mnt_id != search.mount) continue;
    done = is_wanted(info.stx_ino) && was_last();
    if (done || !search.depth || !S_ISDIR(info.stx_mode)) continue;
    int below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
    search.depth--;
    if (below >= 0) done = search_below(below);
    search.depth++;
  }
  closedir(directory);
  return done;
}

static bool is_root(const char *link) {
  char target[2];
  return readlink(link, target, sizeof target) == 1;
}

struct place {
  uint64_t mount, inode;
};

/* Nearly all processes have the same root, and many the same working directory. */
static bool is_new(const struct place *place, struct place *known, size_t *count) {
  for (size_t i = 0; i < *count; i++)
    if (known[i].mount == place->mount && known[i].inode == place->inode) return false;
  known[(*count)++] = *place;
  return true;
}

static int open_place(pid_t pid, const char *name, struct place *place) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  if (!strcmp(name, "cwd") && is_root(path)) return -1; /* the last place to search */
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
  struct statx info;
  if (fd < 0) return -1; /* the process has ended */
  if (!look_up(fd, ".", &info)) return close(fd), -1;
  *place = (struct place){info.stx_mnt_id, info.stx_ino};
  return fd;
}

/* Whether nothing is left to be found. */
static bool search_places(const char *name, int depth) {
  struct place place, *known = calloc(search.process_count + 1, sizeof *known);
  size_t count = 0;
  bool done = false;
  if (!known) die("calloc", "places");
  search.depth = depth;
  for (size_t i = 0; i < search.process_count && !done; i++) {
    int fd = open_place(search.processes[i], name, &place);
    if (fd < 0) continue;
    if (!is_new(&place, known, &count)) {
      close(fd);
      continue;
    }
    search.mount = place.mount;
    done = search_below(fd) || (search.met && !look_for_watches());
  }
  free(known);
  return done;
}

void rewatch(const char *cgroup) {
  allow_many_files();
  read_processes(cgroup);
  look_for_watches();
  size_t lost = search.inode_count;
  if (lost && !search_places("root", SHALLOW) && !search_places("cwd", INT_MAX)) search_places("root", INT_MAX);
  if (lost) look_for_watches();
  printf("%zu %zu\n", lost, search.inode_count);
}
