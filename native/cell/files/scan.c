/* Every entry below one directory of a layer, with whiteouts, in no particular order. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "view.h"

/* How much of a listing each level holds. A directory may have millions of entries, and a tree thousands of levels. */
#define LISTING 4096

static struct path path;

static void scan_directory(int fd, size_t depth);

/* An entry that a running environment removes or replaces meanwhile has nothing below it. */
static void scan_entry(int parent, const char *name, size_t depth) {
  struct statx info;
  if (!stat_name(parent, name, &info)) return;
  int fd = -1;
  if (S_ISDIR(info.stx_mode)) {
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) die_open(path.text);
    if (fd < 0) return;
  }
  print_entry(0, parent, name, &info, fd >= 0 && is_opaque(fd), path.text);
  if (fd >= 0) scan_directory(fd, depth + 1);
}

static void scan_listed(int fd, const char *listing, ssize_t length, size_t depth) {
  const struct dirent64 *entry;
  for (ssize_t at = 0; at < length; at += entry->d_reclen) {
    entry = (const void *)(listing + at);
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    size_t before = append_name(&path, entry->d_name);
    scan_entry(fd, entry->d_name, depth);
    cut_path(&path, before);
  }
}

static void scan_directory(int fd, size_t depth) {
  if (depth == DEEPEST) die_because(TOO_DEEP, path.text);
  autofree char *listing = require_memory(malloc(LISTING));
  ssize_t length;
  while ((length = getdents64(fd, listing, LISTING)) > 0) scan_listed(fd, listing, length, depth);
  if (length < 0 && errno != ENOENT) die("getdents64 of '%s'", path.text ? path.text : "");
  close(fd);
}

void scan(const char *directory) { scan_directory(open_layer(directory), 0); }
