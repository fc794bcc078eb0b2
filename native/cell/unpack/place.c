/* Puts members of an archive into a directory. Nothing here follows a symbolic link, and every path is opened below the
 * directory, so whatever an archive says stays in there.
 *
 * A layer of an image deletes what layers below it have with members called `.wh.NAME`, and OverlayFS with a character
 * device 0/0. `.wh..wh..opq` hides everything that the directory has in layers below. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "unpack.h"

#define WHITEOUT ".wh."
#define OPAQUE ".wh..wh..opq"
#define INTERNAL ".wh..wh." /* what AUFS keeps for itself */

static int open_inside(int root, const char *path, uint64_t flags) {
  struct open_how how = {
      .flags = flags | O_CLOEXEC | O_NOFOLLOW,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
  };
  return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
}

static __attribute__((noreturn)) void die_through(const char *path) {
  if (errno == ENOTDIR || errno == ELOOP)
    die_because("'%s' goes through a link, or through something that is no directory", shown(path));
  die("open '%s'", shown(path));
}

/* Directories that the archive leaves out: they are in a layer below. */
static int open_directory(int root, char *path) {
  int fd = open_inside(root, path, O_RDONLY | O_DIRECTORY);
  if (fd >= 0) return fd;
  if (errno != ENOENT) die_through(path);
  char *slash = strrchr(path, '/');
  autoclose int parent = -1;
  if (slash) {
    *slash = '\0';
    parent = open_directory(root, path);
    *slash = '/';
  } else {
    parent = dup(root);
  }
  if (mkdirat(parent, slash ? slash + 1 : path, 0755)) die("mkdir '%s'", shown(path));
  fd = open_inside(root, path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) die_through(path);
  return fd;
}

static void make_opaque(int directory, const char *name) {
  if (fsetxattr(directory, "trusted.overlay.opaque", "y", 1, 0)) die("setxattr '%s'", shown(name));
}

static bool is_whiteout_device(const struct stat *info) {
  return S_ISCHR(info->st_mode) && info->st_rdev == makedev(0, 0);
}

/* What a member before this one has put here. */
static bool find(int parent, const char *name, struct stat *info) {
  if (!fstatat(parent, name, info, AT_SYMLINK_NOFOLLOW)) return true;
  if (errno != ENOENT) die("stat '%s'", shown(name));
  return false;
}

static void remove_file(int parent, const char *name, const struct member *member) {
  struct stat info;
  if (!find(parent, name, &info)) return;
  if (S_ISDIR(info.st_mode)) die_because("'%s' is a directory and something else", shown(member->name));
  if (unlinkat(parent, name, 0)) die("unlink '%s'", shown(member->name));
}

static void hide(int parent, const char *name, const struct member *member) {
  struct stat info;
  if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) die_because("'%s' deletes no name", shown(member->name));
  if (!find(parent, name, &info)) {
    if (mknodat(parent, name, S_IFCHR, makedev(0, 0))) die("mknod '%s'", shown(member->name));
    return;
  }
  /* It means layers below, so what this layer has stays; anything but a directory hides them already. */
  if (!S_ISDIR(info.st_mode)) return;
  autoclose int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) die("open '%s'", shown(member->name));
  make_opaque(directory, member->name);
}

static void set_attributes(int fd, const struct member *member) {
  if (fchown(fd, member->uid, member->gid)) die("chown '%s'", shown(member->name));
  if (fchmod(fd, member->mode)) die("chmod '%s'", shown(member->name));
  for (size_t i = 0; i < member->attribute_count; i++) {
    const struct attribute *attribute = &member->attributes[i];
    if (fsetxattr(fd, attribute->name, attribute->value, attribute->length, 0))
      die("setxattr '%s'", shown(member->name));
  }
  struct timespec times[2] = {member->mtime, member->mtime};
  if (futimens(fd, times)) die("utimensat '%s'", shown(member->name));
}

static void place_directory(int parent, const char *name, const struct member *member) {
  struct stat info;
  bool existed = find(parent, name, &info);
  bool was_hidden = existed && is_whiteout_device(&info);
  if (was_hidden && unlinkat(parent, name, 0)) die("unlink '%s'", shown(member->name));
  if (existed && !was_hidden && !S_ISDIR(info.st_mode))
    die_because("'%s' is a directory and something else", shown(member->name));
  if ((!existed || was_hidden) && mkdirat(parent, name, 0700)) die("mkdir '%s'", shown(member->name));
  autoclose int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("open '%s'", shown(member->name));
  if (was_hidden) make_opaque(fd, member->name);
  set_attributes(fd, member);
}

static void place_file(int parent, const char *name, const struct member *member) {
  remove_file(parent, name, member);
  autoclose int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) die("create '%s'", shown(member->name));
  take_content(member, fd);
  set_attributes(fd, member);
}

static void place_link(int root, int parent, const char *name, const struct member *member) {
  autofree char *target = checked_name(member->target, "the target");
  autoclose int fd = open_inside(root, target, O_PATH);
  if (fd < 0 && errno == ENOENT) die_because("'%s' is a link to a file that is not in its layer", shown(member->name));
  if (fd < 0) die_through(target);
  struct stat info;
  if (fstat(fd, &info)) die("stat '%s'", shown(target));
  if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
    die_because("'%s' is a link to something that is no file", shown(member->name));
  struct stat here;
  if (find(parent, name, &here) && here.st_ino == info.st_ino && here.st_dev == info.st_dev) return;
  remove_file(parent, name, member);
  if (linkat(fd, "", parent, name, AT_EMPTY_PATH)) die("link '%s'", shown(member->name));
}

static void place_symlink(int parent, const char *name, const struct member *member) {
  remove_file(parent, name, member);
  if (symlinkat(member->target, parent, name)) die("symlink '%s'", shown(member->name));
  if (fchownat(parent, name, member->uid, member->gid, AT_SYMLINK_NOFOLLOW)) die("chown '%s'", shown(member->name));
  struct timespec times[2] = {member->mtime, member->mtime};
  if (utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW)) die("utimensat '%s'", shown(member->name));
}

static void place_fifo(int parent, const char *name, const struct member *member) {
  remove_file(parent, name, member);
  if (mkfifoat(parent, name, 0600)) die("mkfifo '%s'", shown(member->name));
  if (fchownat(parent, name, member->uid, member->gid, AT_SYMLINK_NOFOLLOW)) die("chown '%s'", shown(member->name));
  if (fchmodat(parent, name, member->mode, 0)) die("chmod '%s'", shown(member->name));
}

/* An environment has a /dev of its own, which covers what its image has there. */
static void refuse_device(const struct member *member) {
  if (strncmp(member->name, "dev/", 4)) die_because("'%s' is a device", shown(member->name));
}

static void place(int root, int parent, const char *name, const struct member *member) {
  switch (member->type) {
    case '\0':
    case '0':
    case '7': place_file(parent, name, member); return;
    case '1': place_link(root, parent, name, member); break;
    case '2': place_symlink(parent, name, member); break;
    case '3':
    case '4': refuse_device(member); break;
    case '5': place_directory(parent, name, member); break;
    case '6': place_fifo(parent, name, member); break;
    default: die_because("'%s' has the unknown type '%c'", shown(member->name), member->type);
  }
  take_content(member, -1);
}

void place_member(int root, const struct member *member) {
  if (!*member->name) {
    if (member->type != '5') die_because("the archive has a member without a name");
    set_attributes(root, member);
    take_content(member, -1);
    return;
  }
  autofree char *path = require_memory(strdup(member->name));
  char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (slash) *slash = '\0';
  autoclose int parent = slash ? open_directory(root, path) : dup(root);
  bool is_mark = !strncmp(name, WHITEOUT, strlen(WHITEOUT));
  if (!is_mark) {
    place(root, parent, name, member);
    return;
  }
  if (!strcmp(name, OPAQUE))
    make_opaque(parent, member->name);
  else if (strncmp(name, INTERNAL, strlen(INTERNAL)))
    hide(parent, name + strlen(WHITEOUT), member);
  take_content(member, -1);
}
