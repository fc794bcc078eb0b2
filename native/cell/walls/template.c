/* Device nodes and trusted attributes, for layers and for the template of /dev. Node can make neither. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"
#include "walls.h"

/* To OverlayFS, a character device 0:0 means that the name does not exist. */
void verb_whiteouts(char **words) {
  for (; *words; words++)
    if (mknod(*words, S_IFCHR, makedev(0, 0)) && errno != EEXIST) die("mknod '%s'", *words);
}

/* An opaque directory hides those of the same name in all layers below. */
void verb_opaque(char **words) {
  for (; *words; words++)
    if (setxattr(*words, "trusted.overlay.opaque", "y", 1, 0)) die("setxattr 'trusted.overlay.opaque' of '%s'", *words);
}

static void make_node(const char *name, unsigned major, unsigned minor) {
  if (mknod(name, S_IFCHR | 0666, makedev(major, minor)) && errno != EEXIST) die("mknod '%s'", name);
  if (chmod(name, 0666)) die("chmod '%s'", name);
}

static void make_link(const char *target, const char *name) {
  if (symlink(target, name) && errno != EEXIST) die("symlink '%s'", name);
}

static void make_mountpoint(const char *name, mode_t mode) {
  if (mkdir(name, mode) && errno != EEXIST) die("mkdir '%s'", name);
}

/* The /dev of every cell: devices without state, and links. /dev/shm leads into the overlay, because CRIU puts
 * the content of every tmpfs into the dump. */
void verb_devices(char **words) {
  if (chdir(words[0])) die("chdir '%s'", words[0]);
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
  make_mountpoint("pts", 0755);
  make_mountpoint(".empty", 0555);
}
