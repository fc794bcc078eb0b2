/* The place that CRIU runs in. A sandbox chooses the names in the images, and CRIU resolves some of them in its own
 * mounts as root of the host, where a link could lead it anywhere. So CRIU has mounts of its own in which there is
 * nothing to find: an empty tmpfs with
 *
 *   /proc      for the processes that it works on
 *   /sys       read-only; a user namespace can mount only what it sees already
 *   /run       a cache of what CRIU knows about the kernel, which it uses only if this is a tmpfs
 *   /tmp       for its log and the mounts that it builds; goes away with the namespace
 *   /dev/null
 *   /dev/pts   without terminals; CRIU compares a cell's with it
 *   /stage     what a restored cell will consist of (stage.c)
 *
 * It also has its program and libraries, read-only under their own names, and for each job the images and cgroups of
 * one environment, which the worker shows to it. */
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

#include "io.h"
#include "report.h"
#include "shared/owned.h"
#include "stage.h"

#define LOCKED_DOWN (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* For the directory that becomes /run. It lies where anybody may make directories, and whoever could change it could
 * make root write elsewhere. */
static int clone_own_directory(const char *path) {
  autoclose int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  struct stat info;
  if (fstat(fd, &info)) die("fstat '%s'", path);
  if (info.st_uid || info.st_mode & 022) die_because("'%s' is not a directory that only root can change", path);
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  return clone_mount(own, -1, LOCKED_DOWN | MOUNT_ATTR_NOEXEC);
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
  if (fstat(tree, &info)) die("fstat '%s'", path);
  make_parents(path);
  if (S_ISDIR(info.st_mode)) return make_directory(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) die("create '%s'", path);
  close(fd);
}

static void put(int tree, const char *at) {
  make_mountpoint(at, tree);
  attach(tree, at);
}

static void mount_tmpfs(const char *at, const char *options) {
  if (mount("jail", at, "tmpfs", MS_NOSUID, options)) die("mount tmpfs on '%s'", at);
}

static void take_root(const char *directory) {
  if (chdir(directory)) die("chdir '%s'", directory);
  if (syscall(SYS_pivot_root, ".", ".")) die("pivot_root '%s'", directory);
  if (umount2(".", MNT_DETACH)) die("umount the host's root");
  if (chdir("/")) die("chdir '/'");
}

/* CRIU would read the beginning of every open file for its build id, and programs see the time of that access. */
static void write_config(void) {
  FILE *file = fopen(JAIL_CONFIG, "we");
  if (!file) die("open '%s'", JAIL_CONFIG);
  fputs("file-validation filesize\n", file);
  if (fclose(file)) die("write '%s'", JAIL_CONFIG);
}

/* The new root is mounted on the directory that becomes /run, because that directory exists and is ours. */
void enter_jail(const struct spec *spec) {
  if (!spec->kdat) die_because("a worker needs --kdat");
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
  if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, NULL)) die("mount devpts on '/dev/pts'");
  make_directory(JAIL_STAGE);
  make_directory(JAIL_TMP);
  mount_tmpfs(JAIL_TMP, "size=64m,mode=0755");
  write_config();
  /* Last, because any of these may lie below one of the mounts above. */
  for (size_t i = 0; i < spec->shown_count; i++) put(shown[i], spec->shown[i]);
}

int open_mounts(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", path);
  return fd;
}

void move_to(int mounts) {
  if (setns(mounts, CLONE_NEWNS)) die("setns to a mount namespace");
}

void show(const struct jail *jail, const char *path, uint64_t attributes) {
  int tree = clone_mount(path, -1, LOCKED_DOWN | attributes);
  move_to(jail->inside);
  put(tree, path);
  move_to(jail->outside);
}

void show_stage(const struct jail *jail) {
  int tree = (int)syscall(SYS_open_tree, AT_FDCWD, "stage", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (tree < 0) die("open_tree 'stage'");
  move_to(jail->inside);
  attach(tree, JAIL_STAGE);
}

/* The file is readable for all: some images are read by restored processes, as the sandbox's root. */
void replace_file(const char *path, const void *bytes, size_t length) {
  char draft[] = JAIL_TMP "/replaced.XXXXXX";
  autoclose int fd = mkstemp(draft);
  if (fd < 0) die("mkstemp '%s'", draft);
  if (!write_all(fd, bytes, length)) die("write '%s'", draft);
  if (fchmod(fd, 0444)) die("fchmod '%s'", draft);
  if (mount(draft, path, NULL, MS_BIND, NULL)) die("bind '%s' on '%s'", draft, path);
}
