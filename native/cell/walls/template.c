/* Layers and templates need device nodes and trusted xattrs, which Node cannot make. */
#define _GNU_SOURCE
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* OverlayFS reads a character device 0:0 as "nothing here". */
void make_whiteouts(char **paths) {
  for (; *paths; paths++)
    if (mknod(*paths, S_IFCHR, makedev(0, 0)) && errno != EEXIST) die("mknod", *paths);
}

/* An opaque directory hides the one of the same name in every layer below. */
void make_opaque(char **paths) {
  for (; *paths; paths++)
    if (setxattr(*paths, "trusted.overlay.opaque", "y", 1, 0)) die("setxattr", *paths);
}

static void make_node(const char *name, unsigned major, unsigned minor) {
  if (mknod(name, S_IFCHR | 0666, makedev(major, minor)) && errno != EEXIST) die("mknod", name);
  if (chmod(name, 0666)) die("chmod", name);
}

static void make_link(const char *target, const char *name) {
  if (symlink(target, name) && errno != EEXIST) die("symlink", name);
}

/* The /dev of every cell: devices that hold no state, and links. /dev/shm points
 * into the overlay, because CRIU archives every tmpfs it dumps. */
void make_devices(const char *directory) {
  if (chdir(directory)) die("chdir", directory);
  umask(0);
  make_node("null", 1, 3);
  make_node("zero", 1, 5);
  make_node("full", 1, 7);
  make_node("random", 1, 8);
  make_node("urandom", 1, 9);
  make_node("tty", 5, 0);
  make_link("pts/ptmx", "ptmx");
  make_link("/proc/self/fd", "fd");
  make_link("/proc/self/fd/0", "stdin");
  make_link("/proc/self/fd/1", "stdout");
  make_link("/proc/self/fd/2", "stderr");
  make_link("/run/shm", "shm");
  make_link("/run/log", "log");
  if ((mkdir("pts", 0755) || mkdir(".empty", 0555)) && errno != EEXIST) die("mkdir", directory);
}
