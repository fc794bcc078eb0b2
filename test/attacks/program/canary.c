/* Changes to files of the host, each in its own directory that everybody may write to. Inside, most
 * of them work on the environment's copy: the watcher sees whether the host's file changed. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <poll.h>
#include <unistd.h>

static struct finding tell(long result) {
  return tried("%s", result < 0 ? strerrorname_np(errno) : "done");
}

static struct finding write_file(const void *with) {
  int fd = open(canary("host-file-write", "file"), O_WRONLY);
  return tell(fd < 0 ? -1 : write(fd, "changed", 7));
}

static struct finding append_by_proc(const void *with) {
  int fd = open(canary("host-file-reopen", "file"), O_RDONLY);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int again = open(path, O_WRONLY | O_APPEND);
  return tell(again < 0 ? -1 : write(again, "changed", 7));
}

static struct finding truncate_file(const void *with) { return tell(truncate(canary("host-file-truncate", "file"), 1)); }
static struct finding unlink_file(const void *with) { return tell(unlink(canary("host-file-unlink", "file"))); }
static struct finding make_file(const void *with) { return tell(creat(canary("host-file-create", "new"), 0666)); }
static struct finding chmod_file(const void *with) { return tell(chmod(canary("host-file-chmod", "file"), 04777)); }
static struct finding chown_file(const void *with) { return tell(chown(canary("host-file-chown", "file"), 12, 12)); }
static struct finding make_directory(const void *with) { return tell(mkdir(canary("host-directory-make", "new"), 0777)); }
static struct finding remove_directory(const void *with) { return tell(rmdir(canary("host-directory-remove", "empty"))); }

static struct finding rename_file(const void *with) {
  return tell(rename(canary("host-file-rename", "file"), canary("host-file-rename", "renamed")));
}

static struct finding exchange_files(const void *with) {
  return tell(renameat2(AT_FDCWD, canary("host-file-exchange", "file"), AT_FDCWD, canary("host-file-exchange", "empty"),
                        RENAME_EXCHANGE));
}

static struct finding link_file(const void *with) {
  return tell(link(canary("host-file-link", "file"), canary("host-file-link", "linked")));
}

static struct finding link_symbolically(const void *with) {
  return tell(symlink("/etc/passwd", canary("host-symlink-make", "new")));
}

static struct finding touch_file(const void *with) {
  const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  return tell(utimensat(AT_FDCWD, canary("host-file-touch", "file"), times, 0));
}

static struct finding map_file(const void *with) {
  int fd = open(canary("host-file-map", "file"), O_RDWR);
  char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return tell(-1);
  memory[0] = 'X';
  return tell(msync(memory, 4096, MS_SYNC));
}

/* A hole that once let readers write into the page cache. */
static struct finding splice_file(const void *with) {
  int fd = open(canary("host-file-splice", "file"), in_weak_place() ? O_RDWR : O_RDONLY), ends[2];
  if (fd < 0 || pipe(ends)) return tell(-1);
  loff_t from = 0;
  if (splice(fd, &from, ends[1], NULL, 1, 0) != 1) return tell(-1);
  if (in_weak_place()) return tell(pwrite(fd, "changed", 7, 0)); /* a kernel without this hole stands in for one with it */
  return tell(write(ends[1], "changed", 7));
}

static struct finding punch_file(const void *with) {
  int fd = open(canary("host-file-punch", "file"), O_RDWR);
  return tell(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4));
}

static struct finding attribute_file(const void *with) {
  return tell(setxattr(canary("host-file-xattr", "file"), "user.attack", "1", 1, 0));
}

static struct finding freeze_file(const void *with) {
  int fd = open(canary("host-file-immutable", "file"), O_RDONLY), flags = FS_IMMUTABLE_FL;
  long result = ioctl(fd, FS_IOC_SETFLAGS, &flags);
  struct finding finding = tell(result);
  flags = 0;
  if (in_weak_place()) ioctl(fd, FS_IOC_SETFLAGS, &flags);
  return finding;
}

static struct finding lock_file(const void *with) {
  int fd = open(canary("host-file-flock", "file"), O_RDWR);
  return holding(tell(flock(fd, LOCK_EX | LOCK_NB)));
}

static struct finding lock_range(const void *with) {
  int fd = open(canary("host-file-lock", "file"), O_RDWR);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return holding(tell(fcntl(fd, F_SETLK, &whole)));
}

static struct finding write_fifo(const void *with) {
  int fd = open(canary("host-fifo-write", "fifo"), O_WRONLY | O_NONBLOCK);
  return tell(fd < 0 ? -1 : write(fd, "x", 1));
}

static struct finding connect_socket(const void *with) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s", canary("host-socket-connect", "socket"));
  return judge(connect(fd, (struct sockaddr *)&to, sizeof to), "connect to a socket of the host");
}

/* The watcher changes this file all the time. */
static struct finding spy_on_file(const void *with) {
  int fd = inotify_init1(0);
  if (inotify_add_watch(fd, canary("host-file-spy", "ticking"), IN_ALL_EVENTS) < 0) return broken("inotify_add_watch");
  struct pollfd events = {.fd = fd, .events = POLLIN};
  return poll(&events, 1, 300) > 0 ? succeeded("notified of a change by the host") : refused("not notified");
}

static struct finding set_attribute(const void *name) {
  if (!write_text(scratch("file"), "x")) return broken("scratch file");
  return judge(setxattr(scratch("file"), name, "y", 1, 0), name);
}

static struct finding make_whiteout(const void *with) {
  return judge(mknod(scratch("whiteout"), S_IFCHR | 0600, 0), "mknod of a whiteout");
}

static struct finding rename_with_whiteout(const void *with) {
  if (!write_text(scratch("a"), "x")) return broken("scratch file");
  return judge(renameat2(AT_FDCWD, scratch("a"), AT_FDCWD, scratch("b"), RENAME_WHITEOUT), "rename that leaves a whiteout");
}

static const struct attack attacks[] = {
    {"host-file-write", write_file},
    {"host-file-reopen", append_by_proc},
    {"host-file-truncate", truncate_file},
    {"host-file-unlink", unlink_file},
    {"host-file-create", make_file},
    {"host-file-chmod", chmod_file},
    {"host-file-chown", chown_file},
    {"host-file-rename", rename_file},
    {"host-file-exchange", exchange_files},
    {"host-file-link", link_file},
    {"host-symlink-make", link_symbolically},
    {"host-file-touch", touch_file},
    {"host-file-map", map_file},
    {"host-file-splice", splice_file},
    {"host-file-punch", punch_file},
    {"host-file-xattr", attribute_file},
    {"host-file-immutable", freeze_file},
    {"host-directory-make", make_directory},
    {"host-directory-remove", remove_directory},
    {"host-file-flock", lock_file},
    {"host-file-lock", lock_range},
    {"host-fifo-write", write_fifo},
    {"host-socket-connect", connect_socket},
    {"host-file-spy", spy_on_file},
    {"overlay-attribute", set_attribute, "trusted.overlay.opaque"},
    {"security-attribute", set_attribute, "security.attack"},
    {"whiteout-make", make_whiteout},
    {"whiteout-by-rename", rename_with_whiteout},
};
SUBJECT(canary_attacks, attacks);
