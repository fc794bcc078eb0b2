/* Mounts made with the host's privileges, in a mount namespace that nobody else sees:
 *
 *   stage/root   the overlay: upper over the layers
 *   stage/dev    the device template, read-only
 *   stage/run    the directory of the agent's socket
 *   stage/pages  memory that processes map, read-only
 *
 * The cell's first process, or CRIU, binds them together inside. They lie side by side because a user namespace
 * with fewer privileges sees them as locked, and cannot bind a mount that has locked ones below it. */
#define _GNU_SOURCE
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pairs.h"
#include "report.h"
#include "subvolumes.h"

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

#define OWN_FILES "stage/l/own" /* upper and work, with the ids of this cell */

static int sys_open_tree(const char *path, unsigned flags) {
  return (int)syscall(SYS_open_tree, AT_FDCWD, path, flags);
}

static int sys_mount_setattr(int fd, struct mount_attr *attr) {
  return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, attr, sizeof *attr);
}

static int sys_move_mount(int fd, const char *to) {
  return (int)syscall(SYS_move_mount, fd, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH);
}

static int sys_fsconfig(int fs, unsigned command, const char *key, const char *value) {
  return (int)syscall(SYS_fsconfig, fs, command, key, value, 0);
}

/* Mounts made here stay here, and the host's unmounts still arrive, so that nothing keeps its mounts busy. */
void enter_private_mounts(void) {
  if (unshare(CLONE_NEWNS)) die("unshare mount namespace");
  if (mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL)) die("mount '/' as slave");
}

void make_directory(const char *path) {
  if (mkdir(path, 0755) && errno != EEXIST) die("mkdir '%s'", path);
}

int clone_mount(const char *path, int user_namespace, uint64_t extra_attributes) {
  int fd = sys_open_tree(path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0) die("open_tree '%s'", path);
  struct mount_attr attr = {.attr_set = extra_attributes};
  if (user_namespace >= 0) {
    attr.attr_set |= MOUNT_ATTR_IDMAP;
    attr.userns_fd = (uint64_t)user_namespace;
  }
  if (attr.attr_set && sys_mount_setattr(fd, &attr)) die("mount_setattr '%s'", path);
  return fd;
}

void attach(int fd, const char *to) {
  if (sys_move_mount(fd, to)) die("move_mount '%s'", to);
  close(fd);
}

/* The layers lie below a mount of their own. Detaching a mount waits for all CPUs, and this way one detachment
 * takes all layers along (measured with 14 layers on a busy machine with 2 CPUs: 0.4 ms instead of 1.4 ms). */
static void stage_layers(const struct spec *spec, struct mappings mappings) {
  make_directory("stage/l");
  if (mount("stage/l", "stage/l", NULL, MS_BIND, NULL)) die("bind 'stage/l'");
  for (size_t i = 0; i < spec->layer_count; i++) {
    char place[32];
    snprintf(place, sizeof place, "stage/l/%zu", i);
    make_directory(place);
    const struct layer *layer = &spec->layers[i];
    attach(clone_mount(layer->path, layer->host_ids ? mappings.cell : mappings.disk, 0), place);
  }
  make_directory(OWN_FILES);
  attach(clone_mount(spec->files ? spec->files : ".", mappings.disk, 0), OWN_FILES);
}

static void make_files(const struct spec *spec) {
  if (spec->files_of)
    clone_files(spec->files_of, spec->files);
  else
    create_files(spec->files, spec->disk_base, spec->root);
}

/* Before Linux 6.7: all options in one string of at most 4 KiB. */
static void mount_overlay_classic(const struct spec *spec) {
  char options[4096];
  size_t used = (size_t)snprintf(options, sizeof options,
                                 "index=on,nfs_export=on,redirect_dir=off,volatile,%s"
                                 "upperdir=" OWN_FILES "/upper,workdir=" OWN_FILES "/work,lowerdir=",
                                 spec->files ? "xino=on," : "");
  for (size_t i = 0; i < spec->layer_count && used < sizeof options; i++)
    used += (size_t)snprintf(options + used, sizeof options - used, "%sstage/l/%zu", i ? ":" : "", i);
  if (used >= sizeof options) die_because("%zu layers are too many for this kernel: %s", spec->layer_count, spec->env);
  unsigned long flags = MS_NODEV | (spec->no_new_privs ? MS_NOSUID : 0);
  if (mount("forkpoint", "stage/root", "overlay", flags, options)) die("mount overlay of '%s'", spec->env);
}

/* False if the kernel does not know this option or command; any other failure is fatal. */
static bool configure(int fs, unsigned command, const char *key, const char *value, const char *of) {
  if (!sys_fsconfig(fs, command, key, value)) return true;
  if (errno != EINVAL) die("fsconfig overlay %s of '%s'", key ? key : "create", of);
  return false;
}

/* False where the kernel lacks `lowerdir+`, which came with 6.7. Since 6.5 OverlayFS refuses unknown options at
 * once; before that the kernel only collects them, and refuses at the last step or when they get too long. */
static bool create_overlay(int fs, const struct spec *spec) {
  for (size_t i = 0; i < spec->layer_count; i++) {
    char place[32];
    snprintf(place, sizeof place, "stage/l/%zu", i);
    if (!configure(fs, FSCONFIG_SET_STRING, "lowerdir+", place, spec->layers[i].path)) return false;
  }
  /* Some kernels make redirects by default, and none of our code that reads layers follows them. */
  const char *options[][2] = {
      {"source", "forkpoint"}, {"upperdir", OWN_FILES "/upper"}, {"workdir", OWN_FILES "/work"}, {"index", "on"},
      {"nfs_export", "on"},    {"redirect_dir", "off"},
  };
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (!configure(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], spec->env)) return false;
  /* Then a copy of the upper has the inode numbers of the original, whichever files either of them looked up first. */
  if (spec->files && !configure(fs, FSCONFIG_SET_STRING, "xino", "on", spec->env)) return false;
  /* Without it, every file that is copied up waits for the disk; a snapshot is flushed as a whole. */
  if (!configure(fs, FSCONFIG_SET_FLAG, "volatile", NULL, spec->env)) return false;
  return configure(fs, FSCONFIG_CMD_CREATE, NULL, NULL, spec->env);
}

static void mount_overlay(const struct spec *spec) {
  int fs = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
  if (fs < 0) die("fsopen overlay");
  if (!create_overlay(fs, spec)) {
    close(fs);
    mount_overlay_classic(spec);
    return;
  }
  unsigned attributes = MOUNT_ATTR_NODEV | (spec->no_new_privs ? MOUNT_ATTR_NOSUID : 0);
  int root = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes);
  if (root < 0) die("fsmount overlay of '%s'", spec->env);
  attach(root, "stage/root");
  close(fs);
}

/* On a full disk the kernel makes the overlay read-only, and says so only in its log. */
static void require_writable_root(const struct spec *spec) {
  struct statvfs found;
  if (statvfs("stage/root", &found)) die("statvfs 'stage/root'");
  if (!(found.f_flag & ST_RDONLY)) return;
  errno = EROFS;
  die("mount overlay of '%s'", spec->env);
}

/* Not noexec: a process may make memory executable that it maps from here. */
static void stage_pages(const char *pages, int user_namespace) {
  make_directory("stage/pages");
  attach(clone_mount(pages, user_namespace, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV), "stage/pages");
}

/* Paths are relative to the environment's directory, which keeps them short: fsconfig takes values of at most
 * 255 bytes. */
void stage_mounts(const struct spec *spec, struct mappings mappings) {
  if (chdir(spec->env)) die("chdir '%s'", spec->env);
  if (mount("stage", "stage", "tmpfs", 0, "size=1m,mode=0755")) die("mount tmpfs on '%s/stage'", spec->env);
  if (spec->files) make_files(spec);
  stage_layers(spec, mappings);
  make_directory("stage/root");
  if (spec->files) take_weak_numbers();
  mount_overlay(spec);
  require_writable_root(spec);
  make_directory("stage/dev");
  attach(clone_mount(spec->dev, mappings.cell, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), "stage/dev");
  make_directory("stage/run");
  attach(clone_mount("run", mappings.disk, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC), "stage/run");
  if (spec->pages) stage_pages(spec->pages, mappings.cell);
  if (umount2("stage/l", MNT_DETACH)) die("umount 'stage/l'");
  close(mappings.cell);
  close(mappings.disk);
}
