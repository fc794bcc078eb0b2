/* The place that CRIU runs in. Names in its images are a sandbox's choice, and CRIU resolves some of them as
 * the host's root in its own mounts: a link there would lead it anywhere. So it has mounts of its own, with
 * nothing to be found in them: an empty tmpfs with
 *
 *   /proc      for the processes that it works on
 *   /sys       read-only: the kernel lets a user namespace mount only what it sees already
 *   /run       where it keeps what it learned of the kernel; it asks anew on every call unless this is a tmpfs
 *   /tmp       for its log and the mounts that it builds; it goes with the namespace
 *   /dev/null
 *   /dev/pts   with no terminal; CRIU compares a cell's with it
 *   /stage     what a restored cell will consist of (stage.c)
 *
 * and, read-only under their own names, its program and libraries; and for a job the images and the cgroups
 * of the one environment it is about. The worker that gives it the job shows it those. */
#define _GNU_SOURCE
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOCKED_DOWN (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Who can change what becomes /run can have root write where it should not, and it lies where anybody may
 * make directories. */
static int clone_own_directory(const char *path) {
  int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info)) die("open", path);
  if (info.st_uid || info.st_mode & 022) die_usage("not a directory that only root can change", path);
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  int tree = clone_mount(own, -1, LOCKED_DOWN | MOUNT_ATTR_NOEXEC);
  close(fd);
  return tree;
}

static void make_parents(const char *path) {
  char part[PATH_MAX];
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
    make_directory(part);
  }
}

static void make_mountpoint(const char *path, int tree) {
  struct stat info;
  if (fstat(tree, &info)) die("fstat", path);
  make_parents(path);
  if (S_ISDIR(info.st_mode)) return make_directory(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) die("create", path);
  close(fd);
}

static void put(int tree, const char *at) {
  make_mountpoint(at, tree);
  attach(tree, at);
}

static void mount_tmpfs(const char *at, const char *options) {
  if (mount("jail", at, "tmpfs", MS_NOSUID, options)) die("mount tmpfs on", at);
}

static void take_root(const char *directory) {
  if (chdir(directory)) die("chdir", directory);
  if (syscall(SYS_pivot_root, ".", ".")) die("pivot_root", directory);
  if (umount2(".", MNT_DETACH)) die("detach the host's mounts from", "/");
  if (chdir("/")) die("chdir", "/");
}

/* The directory that becomes /run is also where the new root is mounted first: it is there, and ours. */
void enter_jail(const struct spec *spec) {
  if (!spec->kdat) die_usage("needs --kdat", NULL);
  enter_private_mounts();
  int run = clone_own_directory(spec->kdat);
  int proc = clone_mount("/proc", -1, LOCKED_DOWN | MOUNT_ATTR_NOEXEC);
  int sys = clone_mount("/sys", -1, LOCKED_DOWN | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);
  int null = clone_mount("/dev/null", -1, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  int shown[CELL_MAX_SHOWN];
  for (size_t i = 0; i < spec->shown_count; i++)
    shown[i] = clone_mount(spec->shown[i], -1, LOCKED_DOWN | MOUNT_ATTR_RDONLY);
  mount_tmpfs(spec->kdat, "size=1m,mode=0755");
  take_root(spec->kdat);
  put(proc, "/proc");
  put(sys, "/sys");
  mount_tmpfs("/sys/fs/cgroup", "size=1m,mode=0755");
  put(run, "/run");
  put(null, "/dev/null");
  make_directory("/dev/pts");
  if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, NULL)) die("mount", "/dev/pts");
  make_directory(JAIL_STAGE);
  make_directory(JAIL_TMP);
  mount_tmpfs(JAIL_TMP, "size=64m,mode=0755");
  /* Last: any of it may lie below one of the others. */
  for (size_t i = 0; i < spec->shown_count; i++) put(shown[i], spec->shown[i]);
}

int open_mounts(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open", path);
  return fd;
}

void move_to(int mounts) {
  if (setns(mounts, CLONE_NEWNS)) die("setns", "mount namespace");
}

void show(const struct jail *jail, const char *path, uint64_t attributes) {
  int tree = clone_mount(path, -1, LOCKED_DOWN | attributes);
  move_to(jail->inside);
  put(tree, path);
  move_to(jail->outside);
}

void show_stage(const struct jail *jail) {
  int tree = (int)syscall(SYS_open_tree, AT_FDCWD, "stage", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (tree < 0) die("open_tree", "stage");
  move_to(jail->inside);
  attach(tree, JAIL_STAGE);
}

/* Processes that are being restored read some images as the sandbox's root. */
void replace_file(const char *path, const void *bytes, size_t length) {
  char draft[] = JAIL_TMP "/replaced.XXXXXX";
  int fd = mkstemp(draft);
  if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || fchmod(fd, 0444) || close(fd))
    die("write", draft);
  if (mount(draft, path, NULL, MS_BIND, NULL)) die("bind over", path);
}
