/* New mounts, and changes to those that isolate. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not <sys/mount.h>: older C libraries cannot have it together with <linux/mount.h>. */
extern int mount(const char *, const char *, const char *, unsigned long, const void *);
extern int umount2(const char *, int);
#define DETACH 2

struct order {
  const char *source, *target, *type;
  unsigned long flags;
  const char *options;
};

static struct finding mount_it(const void *with) {
  const struct order *order = with;
  const char *target = order->target ? order->target : scratch("place");
  if (!order->target && mkdir(target, 0777) && errno != EEXIST) return broken("mkdir");
  return judge_call(mount(order->source, target, order->type, order->flags, order->options), "mount");
}

static struct finding unmount_it(const void *path) {
  struct finding finding = judge_call(umount2(path, DETACH), "umount");
  return finding.outcome == SUCCEEDED && errno == EINVAL ? broken("nothing is mounted on %s", (const char *)path) : finding;
}

static struct finding new_root(const void *with) { return judge_call(syscall(SYS_pivot_root, ".", "."), "pivot_root"); }
static struct finding open_file_system(const void *with) { return judge_call(syscall(SYS_fsopen, "tmpfs", 0), "fsopen"); }
static struct finding pick_root(const void *with) { return judge_call(syscall(SYS_fspick, AT_FDCWD, "/", 0), "fspick"); }

static struct finding clone_tree(const void *with) {
  return judge_call(syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE), "open_tree");
}

static struct finding move_tree(const void *with) {
  return judge_call(syscall(SYS_move_mount, AT_FDCWD, "/proc", AT_FDCWD, "/tmp", 0), "move_mount");
}

static struct finding set_attributes(const void *path) {
  struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV};
  return judge_call(syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &attr, sizeof attr), "mount_setattr");
}

/* A directory that a restore mounts on; in its place a symlink could be put. */
static struct finding move_mount_point(const void *path) {
  char aside[64];
  snprintf(aside, sizeof aside, "%s.aside", (const char *)path);
  struct finding finding = judge(rename(path, aside), "rename");
  rename(aside, path);
  return finding;
}

#define ORDER(...) (&(const struct order){__VA_ARGS__})
#define NEW(type) ORDER("none", NULL, type, 0, NULL)

static const struct attack attacks[] = {
    {"mount-tmpfs", mount_it, NEW("tmpfs")},
    {"mount-ramfs", mount_it, NEW("ramfs")},
    {"mount-proc", mount_it, NEW("proc")},
    {"mount-sysfs", mount_it, NEW("sysfs")},
    {"mount-devpts", mount_it, NEW("devpts")},
    {"mount-devtmpfs", mount_it, NEW("devtmpfs")},
    {"mount-mqueue", mount_it, NEW("mqueue")},
    {"mount-cgroup2", mount_it, NEW("cgroup2")},
    {"mount-cgroup-release-agent", mount_it, ORDER("none", NULL, "cgroup", 0, "none,name=attack")},
    {"mount-bpf", mount_it, NEW("bpf")},
    {"mount-debugfs", mount_it, NEW("debugfs")},
    {"mount-tracefs", mount_it, NEW("tracefs")},
    {"mount-securityfs", mount_it, NEW("securityfs")},
    {"mount-binfmt-misc", mount_it, NEW("binfmt_misc")},
    {"mount-overlay", mount_it, ORDER("none", NULL, "overlay", 0, "lowerdir=/etc:/usr")},
    {"mount-fuse", mount_it, ORDER("none", NULL, "fuse", 0, "fd=9,rootmode=40000,user_id=0,group_id=0")},
    {"mount-disk", mount_it, ORDER("/nonexistent/disk", NULL, "ext4", 0, NULL)},
    {"mount-bind", mount_it, ORDER("/etc", NULL, NULL, MS_BIND, NULL)},
    {"mount-move", mount_it, ORDER("/proc", NULL, NULL, MS_MOVE, NULL)},
    {"mount-share", mount_it, ORDER("none", "/", NULL, MS_SHARED | MS_REC, NULL)},
    {"remount-root-dev", mount_it, ORDER("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL)},
    {"remount-proc-sys", mount_it, ORDER("none", "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL)},
    {"remount-sys", mount_it, ORDER("none", "/sys", NULL, MS_REMOUNT, NULL)},
    {"remount-dev", mount_it, ORDER("none", "/dev", NULL, MS_REMOUNT | MS_BIND, NULL)},
    {"unmount-proc-sys", unmount_it, "/proc/sys"},
    {"unmount-dev", unmount_it, "/dev"},
    {"unmount-firmware", unmount_it, "/sys/firmware"},
    {"unmount-run", unmount_it, "/run/forkpoint"},
    {"mount-point-run", move_mount_point, "/run", DONE(SYS_rename)},
    {"mount-point-pages", move_mount_point, "/.forkpoint", DONE(SYS_rename)},
    {"pivot-root", new_root},
    {"fsopen", open_file_system},
    {"fspick", pick_root},
    {"open-tree", clone_tree},
    {"move-mount", move_tree},
    {"mount-setattr-root", set_attributes, "/"},
    {"mount-setattr-proc-sys", set_attributes, "/proc/sys"},
};
SUBJECT(mount_attacks, attacks);
