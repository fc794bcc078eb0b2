/* Which watched files have lost their names, as /proc/PID/fdinfo tells. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "watches.h"

union handle {
  struct file_handle head;
  char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

/* "… fhandle-bytes:20 fhandle-type:f8 f_handle:00fb…", numbers in hex */
static bool parse_handle(const char *line, union handle *handle) {
  const char *bytes = strstr(line, "fhandle-bytes:"), *text = strstr(line, "f_handle:");
  if (!bytes || !text ||
      sscanf(bytes, "fhandle-bytes:%x fhandle-type:%x", &handle->head.handle_bytes,
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
  autoclose int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
  struct stat info;
  return fd >= 0 && !fstat(fd, &info) && info.st_ino == file->st_ino && info.st_dev == file->st_dev;
}

/* Whether the kernel knows a name of the file with this handle. A deleted file needs none: CRIU dumps its content. The
 * working directory says which file system the handle is of: no descriptor with O_PATH may. */
static bool has_name(int root, union handle *handle) {
  autoclose int fd = open_by_handle_at(AT_FDCWD, &handle->head, O_PATH | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) || !info.st_nlink) return true;
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  return leads_back(root, path, &info);
}

struct look {
  int root;
  const struct lost *known;
  struct lost lost;
};

static void add_watches(struct look *look, const char *fdinfo) {
  FILE *file = fopen(fdinfo, "re");
  if (!file) return; /* it was closed, or the process has ended */
  char line[1024];
  while (fgets(line, sizeof line, file)) {
    const char *text = strstr(line, " ino:");
    union handle handle;
    if (strncmp(line, "inotify wd:", 11) || !text) continue;
    uint64_t inode = strtoull(text + 5, NULL, 16);
    if (look->known && !is_lost(look->known, inode)) continue;
    if (parse_handle(line, &handle) && has_name(look->root, &handle)) continue;
    struct lost *lost = &look->lost;
    lost->inodes = require_memory(realloc(lost->inodes, (lost->count + 1) * sizeof *lost->inodes));
    lost->inodes[lost->count++] = inode;
  }
  fclose(file);
}

static bool is_inotify(const char *link) {
  char target[32] = "";
  return readlink(link, target, sizeof target - 1) > 0 && !strcmp(target, "anon_inode:inotify");
}

static void add_process(struct look *look, pid_t pid) {
  char path[64 + NAME_MAX];
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *directory = opendir(path);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, entry->d_name);
    if (!is_inotify(path)) continue;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", pid, entry->d_name);
    add_watches(look, path);
  }
  if (directory) closedir(directory);
}

static int by_number(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static void sort_inodes(struct lost *lost) {
  if (!lost->count) return;
  qsort(lost->inodes, lost->count, sizeof *lost->inodes, by_number);
  size_t kept = 1;
  for (size_t i = 1; i < lost->count; i++)
    if (lost->inodes[i] != lost->inodes[kept - 1]) lost->inodes[kept++] = lost->inodes[i];
  lost->count = kept;
}

struct lost find_lost(const struct processes *processes, int root, const struct lost *known) {
  struct look look = {root, known, {0}};
  if (fchdir(root)) die("fchdir to the root of a cell");
  for (size_t i = 0; i < processes->count; i++) add_process(&look, processes->pids[i]);
  if (chdir("/")) die("chdir '/'");
  sort_inodes(&look.lost);
  return look.lost;
}

bool is_lost(const struct lost *lost, uint64_t inode) {
  return lost->count && bsearch(&inode, lost->inodes, lost->count, sizeof inode, by_number);
}
