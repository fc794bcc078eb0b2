/* Making, copying and deleting btrfs subvolumes. A copy shares everything with its source until one of them writes. */
#define _GNU_SOURCE
#include "subvolumes.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/btrfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "tree.h"

#define MOST_TRIES 200
#define PAUSE_US 20000
#define FREEING_TRIES 10
#define FREEING_MICROSECONDS 200000
#define PASSABLE 0711 /* the first process of a cell passes through, after becoming root inside */

int open_parent(const char *path) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  return open_subvolume(dirname(copy));
}

static void set_name(char *name, size_t size, const char *path) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  int length = snprintf(name, size, "%s", basename(copy));
  if (length < 0 || (size_t)length >= size) die_because("the name of '%s' is too long", path);
}

struct attributes {
  mode_t mode;
  uid_t uid;
  gid_t gid;
};

/* Sets the mode after the owner, because a change of owner clears some bits. */
static void make_own_directory(int in, const char *name, struct attributes has) {
  if (mkdirat(in, name, 0755)) die("mkdirat '%s'", name);
  if (fchownat(in, name, has.uid, has.gid, AT_SYMLINK_NOFOLLOW)) die("fchownat '%s'", name);
  if (fchmodat(in, name, has.mode, 0)) die("fchmodat '%s'", name);
}

static struct attributes parse_attributes(const char *text) {
  struct attributes has = {0};
  int length = 0;
  if (sscanf(text, "%o:%u:%u%n", &has.mode, &has.uid, &has.gid, &length) != 3 || text[length])
    die_because("'%s' is not MODE:UID:GID", text);
  return has;
}

void create_files(const char *path, uint32_t owner, const char *root) {
  struct attributes plain = {.mode = 0755, .uid = owner, .gid = owner};
  struct btrfs_ioctl_vol_args args = {0};
  set_name(args.name, sizeof args.name, path);
  int parent = open_parent(path);
  if (ioctl(parent, BTRFS_IOC_SUBVOL_CREATE, &args)) die("create the subvolume '%s'", path);
  int fd = open_subvolume(path);
  if (fchmod(fd, PASSABLE)) die("fchmod '%s'", path);
  make_own_directory(fd, "upper", root ? parse_attributes(root) : plain);
  make_own_directory(fd, "work", plain);
  close(fd);
  close(parent);
}

static int try_snapshot(int source, const char *to, uint64_t flags) {
  int parent = open_parent(to);
  struct btrfs_ioctl_vol_args_v2 args = {.fd = source, .flags = flags};
  set_name(args.name, sizeof args.name, to);
  int failed = ioctl(parent, BTRFS_IOC_SNAP_CREATE_V2, &args), why = errno;
  close(parent);
  errno = why;
  return failed;
}

void take_snapshot(const char *from, const char *to, uint64_t flags) {
  int source = open_subvolume(from);
  if (try_snapshot(source, to, flags)) die("snapshot the subvolume '%s' to '%s'", from, to);
  close(source);
}

void clone_files(const char *from, const char *path) {
  if (take_ahead(from, path)) return;
  take_snapshot(from, path, 0);
  prepare_clone(path);
}

/* Keeps the lock until the kernel has begun to free the space, without making our caller wait. */
static void unlock_when_synced(int parent) {
  if (fork() != 0) return; /* also if it fails: then the next one comes a little early */
  for (int fd = 0; fd <= STDERR_FILENO; fd++) close(fd);
  ioctl(parent, BTRFS_IOC_SYNC, NULL);
  _exit(0);
}

/* Does nothing if it is gone. Returns the directory of PATH, which stays locked. */
static int destroy(const char *path) {
  struct btrfs_ioctl_vol_args args = {0};
  set_name(args.name, sizeof args.name, path);
  int parent = open_parent(path);
  if (flock(parent, LOCK_EX)) die("flock the directory of '%s'", path);
  for (int tries = 0; ioctl(parent, BTRFS_IOC_SNAP_DESTROY, &args) && errno != ENOENT; tries++) {
    if (errno != EPERM || tries == MOST_TRIES) die("delete the subvolume '%s'", path);
    usleep(PAUSE_US); /* somebody compares it with another one */
  }
  return parent;
}

/* One at a time on the whole file system: the kernel frees the space of deleted subvolumes in the background, and many
 * at once hold up whoever takes a snapshot meanwhile (300 of them: 1.3 to 5.7 s). */
void delete_subvolume(const char *path) {
  int parent = destroy(path);
  unlock_when_synced(parent);
  close(parent);
}

static bool make_read_only(const char *path) {
  uint64_t flags = BTRFS_SUBVOL_RDONLY;
  int fd = open_subvolume(path), failed = ioctl(fd, BTRFS_IOC_SUBVOL_SETFLAGS, &flags);
  close(fd);
  return !failed;
}

/* FROM TO. What would be in the way of mounting it is removed once, not in each clone, if there is space for that. */
void verb_subvolume_snapshot(char **words) {
  const char *from = words[0], *to = words[1];
  take_snapshot(from, to, 0);
  clear_work(to);
  if (make_read_only(to)) return;
  delete_subvolume(to);
  take_snapshot(from, to, BTRFS_SUBVOL_RDONLY);
}

/* Space that was freed a moment ago can be used only after the file system has written everything. If it was full of
 * data, there is also no place for metadata until empty parts are given up, which it does by itself after 10 s. */
static void settle_freed(int fd, const char *path) {
  struct btrfs_ioctl_balance_args empty = {.flags = BTRFS_BALANCE_DATA,
                                           .data = {.flags = BTRFS_BALANCE_ARGS_USAGE, .usage = 0}};
  if (syncfs(fd)) die("syncfs '%s'", path);
  ioctl(fd, BTRFS_IOC_BALANCE_V2, &empty); /* whether that was enough shows when it is tried again */
  usleep(FREEING_MICROSECONDS);
}

static bool can_snapshot(const char *from, const char *to) {
  for (int tries = 0; tries < FREEING_TRIES; tries++) {
    int source = open_subvolume(from);
    if (try_snapshot(source, to, BTRFS_SUBVOL_RDONLY) == 0) return close(source) == 0;
    if (errno != ENOSPC) return false;
    settle_freed(source, from);
    close(source);
  }
  errno = ENOSPC;
  return false;
}

/* FROM DRAFT: a snapshot waits until what FROM has written is on disk, and nothing else; so the one after this is
 * quick. */
void verb_subvolume_flush(char **words) {
  if (!can_snapshot(words[0], words[1])) die("snapshot the subvolume '%s' to '%s'", words[0], words[1]);
  close(destroy(words[1])); /* it holds nothing of its own, so there is nothing to free */
}

void verb_subvolume_delete(char **words) {
  for (; *words; words++) delete_subvolume(*words);
}
