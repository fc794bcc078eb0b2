/* Every entry below one layer's directory, whiteouts included, in no order. */
#define _GNU_SOURCE
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static char path[PATH_MAX];

static void scan_directory(int fd, size_t length);

/* What a running environment removes or replaces meanwhile has no entries below it. */
static void scan_entry(int parent, const char *name, size_t length) {
  struct statx info;
  if (!stat_name(parent, name, &info)) return;
  int fd = -1;
  if (S_ISDIR(info.stx_mode)) {
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) die("open", path);
    if (fd < 0) return;
  }
  print_entry(0, parent, name, &info, fd >= 0 && is_opaque(fd), path);
  if (fd >= 0) scan_directory(fd, length);
}

static void scan_directory(int fd, size_t length) {
  DIR *stream = fdopendir(fd);
  if (!stream) die("fdopendir", path);
  for (struct dirent *entry; errno = 0, (entry = readdir(stream));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    int added = snprintf(path + length, sizeof path - length, "%s%s", length ? "/" : "", entry->d_name);
    if (length + (size_t)added >= sizeof path) die_usage("a path is longer than the kernel takes", path);
    scan_entry(fd, entry->d_name, length + (size_t)added);
    path[length] = '\0';
  }
  if (errno && errno != ENOENT) die("readdir", path);
  closedir(stream);
}

void scan(const char *directory) { scan_directory(open_layer(directory), 0); }
