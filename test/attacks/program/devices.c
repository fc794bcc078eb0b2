/* Devices of the host: nodes made inside, nodes that the host's files show, and /dev itself. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct node {
  mode_t kind;
  unsigned major, minor;
};

static struct finding make_node(const void *with) {
  const struct node *node = with;
  return judge(mknod(scratch("node"), node->kind | 0666, makedev(node->major, node->minor)), "mknod");
}

/* A directory of the root file system may hold nodes: an unpacked image, a chroot. */
static struct finding read_node_of_host(const void *name) {
  int fd = open(canary("devices", name), O_RDONLY | O_NONBLOCK);
  if (fd < 0) return judge(-1, "open");
  char bytes[8192] = {0};
  if (read(fd, bytes, sizeof bytes) < 0) return judge(-1, "read");
  return succeeded("read the device");
}

static struct finding write_disk_of_host(const void *with) {
  int fd = open(canary("devices", "disk"), O_WRONLY);
  if (fd < 0) return judge(-1, "open");
  return judge(pwrite(fd, "attacked", 8, 512), "write to the disk");
}

/* A second name for the node, on a file system that might allow devices. */
static struct finding link_node_of_host(const void *with) {
  if (link(canary("devices", "zero"), scratch("linked")) && rename(canary("devices", "zero"), scratch("linked")))
    return judge(-1, "link or rename of the node");
  int fd = open(scratch("linked"), O_RDONLY);
  struct finding finding = judge(fd, "open of the second name");
  if (in_weak_place()) unlink(scratch("linked"));
  return finding;
}

static struct finding open_device(const void *path) { return judge(open(path, O_RDONLY | O_NONBLOCK), path); }

static struct finding remove_full(const void *with) { return judge(unlink("/dev/full"), "unlink /dev/full"); }
static struct finding make_in_dev(const void *with) { return judge(creat("/dev/attack", 0666), "create /dev/attack"); }
static struct finding chmod_null(const void *with) { return judge(chmod("/dev/null", 0600), "chmod /dev/null"); }
static struct finding rename_urandom(const void *with) { return judge(rename("/dev/urandom", "/dev/random2"), "rename /dev/urandom"); }

/* All environments share the layer of devices. */
static struct finding change_times(const void *with) {
  const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  return judge(utimensat(AT_FDCWD, "/dev/zero", times, 0), "utimensat /dev/zero");
}

static struct finding entropy_ioctl(const void *with) {
  int fd = open("/dev/random", O_RDONLY), count;
  if (fd < 0) return broken("/dev/random");
  return judge(ioctl(fd, 0x5207 /* RNDRESEEDCRNG */, &count), "reseed the kernel's random numbers");
}

#define NODE(kind, major, minor) (&(const struct node){(kind), (major), (minor)})

static const struct attack attacks[] = {
    {"node-memory", make_node, NODE(S_IFCHR, 1, 1)},
    {"node-kmsg", make_node, NODE(S_IFCHR, 1, 11)},
    {"node-console", make_node, NODE(S_IFCHR, 5, 1)},
    {"node-null", make_node, NODE(S_IFCHR, 1, 3)},
    {"node-tun", make_node, NODE(S_IFCHR, 10, 200)},
    {"node-fuse", make_node, NODE(S_IFCHR, 10, 229)},
    {"node-kvm", make_node, NODE(S_IFCHR, 10, 232)},
    {"node-loop-control", make_node, NODE(S_IFCHR, 10, 237)},
    {"node-loop", make_node, NODE(S_IFBLK, 7, 0)},
    {"node-disk", make_node, NODE(S_IFBLK, 254, 0)},
    {"lower-character-device", read_node_of_host, "zero"},
    {"lower-kmsg-device", read_node_of_host, "kmsg"},
    {"lower-disk-read", read_node_of_host, "disk"},
    {"lower-disk-write", write_disk_of_host},
    {"lower-device-link", link_node_of_host},
    {"dev-kmsg", open_device, "/dev/kmsg"},
    {"dev-fuse", open_device, "/dev/fuse"},
    {"dev-tun", open_device, "/dev/net/tun"},
    {"dev-loop-control", open_device, "/dev/loop-control"},
    {"dev-remove", remove_full},
    {"dev-create", make_in_dev},
    {"dev-chmod", chmod_null},
    {"dev-rename", rename_urandom},
    {"dev-touch", change_times},
    {"random-reseed", entropy_ioctl},
};
SUBJECT(device_attacks, attacks);
