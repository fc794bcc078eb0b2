/* The entries at given paths of a subvolume, as they lie there: whiteouts are entries, too. After each come the other
 * names of the same file in the upper directory, as entries of layer 1. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"
#include "view.h"

#define UPPER "upper/"
#define SPACE 4096 /* the kernel fills no more */

/* A file with more names than the kernel tells at once cannot be followed. */
static void print_names(int subvolume, const struct statx *info, const char *path) {
  union {
    struct btrfs_data_container header;
    char bytes[SPACE];
  } names = {0};
  struct btrfs_ioctl_ino_path_args args = {
      .inum = info->stx_ino, .size = sizeof names, .fspath = (uint64_t)(uintptr_t)&names};
  if (ioctl(subvolume, BTRFS_IOC_INO_PATHS, &args)) die("find the names of '%s'", path);
  if (names.header.elem_missed) die_because("'%s' has too many names", path);
  for (uint32_t i = 0; i < names.header.elem_cnt; i++) {
    uint64_t at = offsetof(struct btrfs_data_container, val) + names.header.val[i];
    if (at >= sizeof names || !memchr(names.bytes + at, 0, sizeof names - at)) die_because("'%s' has a bad name", path);
    const char *name = names.bytes + at;
    if (!strncmp(name, UPPER, strlen(UPPER)) && strcmp(name, path)) print_entry(1, subvolume, name, info, false, name);
  }
}

static void print_found(int subvolume, const struct found *found, const char *path) {
  const struct statx *info = &found->stat;
  bool directory = S_ISDIR(info->stx_mode);
  int fd = directory ? openat(found->in.fd, found->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  print_entry(0, found->in.fd, found->name, info, fd >= 0 && is_opaque(fd), path);
  if (fd >= 0) close(fd);
  /* OverlayFS makes all whiteouts names of one file, and nothing of it ever changes. */
  if (!directory && info->stx_nlink > 1 && !is_whiteout(info)) print_names(subvolume, info, path);
}

/* SUBVOLUME */
void verb_subvolume_peek(char **words) {
  char layer[PATH_MAX + 6];
  snprintf(layer, sizeof layer, "cell:%s", words[0]);
  begin_view();
  int subvolume = open_subvolume(words[0]);
  struct walk *walk = walk_layers((char *[]){layer}, 1);
  for (char *path; (path = next_path());) {
    struct found found;
    if (resolve_raw(walk, path, &found))
      print_found(subvolume, &found, path);
    else
      print_missing(path);
  }
}
