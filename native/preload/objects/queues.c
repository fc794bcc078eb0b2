/* POSIX message queues. They are files on a mount that nobody sees, so CRIU cannot dump them. It takes one for a file
 * with a name that no file can have, which says how to make the queue. A restore opens that name. What is in a queue
 * comes later (see cell/queues/queues.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "preload/calls.h"
#include "preload/raw.h"

#define QUEUES "/mqueue/" /* CRIU takes off the slash that a path begins with */
#define DELETED " (deleted)"

int fstatfs64(int fd, struct statfs64 *system) {
  struct stat is;
  long result = raw_syscall(SYS_fstatfs, fd, (long)system, 0, 0, 0, 0);
  /* CRIU does not look whether files on this system have a name. */
  if (!result && !restores() && asked_queue(&is) == fd) system->f_type = DEVPTS_SUPER_MAGIC;
  return (int)with_errno(result);
}

ssize_t shown_name_of_queue(const char *path, char *target, size_t size) {
  char link[64], name[NAME_MAX + sizeof DELETED + 2];
  struct stat is;
  struct mq_attr attributes;
  uint32_t uid, gid;
  int fd = restores() ? -1 : asked_queue(&is);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (fd < 0 || strcmp(path, link) || raw_syscall(SYS_mq_getsetattr, fd, 0, (long)&attributes, 0, 0, 0)) return 0;
  if (!id_inside("uid_map", is.st_uid, &uid) || !id_inside("gid_map", is.st_gid, &gid)) return 0;
  long length = raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)name, sizeof name - 1, 0, 0);
  if (length <= 1 || (size_t)length >= sizeof name - 1 || !note_hidden()) return 0;
  name[length] = 0;
  if (!is.st_nlink) snprintf(name, sizeof name, "/forkpoint-%lu", (unsigned long)is.st_ino);
  return snprintf(target, size, "/" QUEUES "%ld,%ld,%o,%u,%u%s", attributes.mq_maxmsg, attributes.mq_msgsize,
                  is.st_mode & 07777, uid, gid, name);
}

long open_queue(const char *path, int flags) {
  struct mq_attr attributes = {0};
  unsigned mode, uid, gid;
  int at = 0;
  if (strncmp(path, QUEUES, sizeof QUEUES - 1)) return -ENOTSUP;
  if (sscanf(path + sizeof QUEUES - 1, "%ld,%ld,%o,%u,%u/%n", &attributes.mq_maxmsg, &attributes.mq_msgsize, &mode,
             &uid, &gid, &at) != 5 ||
      !at)
    return -EINVAL;
  const char *name = path + sizeof QUEUES - 1 + at;
  long fd =
      raw_syscall(SYS_mq_open, (long)name, (flags & (O_ACCMODE | O_NONBLOCK)) | O_CREAT, 0600, (long)&attributes, 0, 0);
  if (fd < 0) return fd;
  long failed = raw_syscall(SYS_fchown, fd, uid, gid, 0, 0, 0);
  if (!failed) failed = raw_syscall(SYS_fchmod, fd, mode, 0, 0, 0, 0);
  if (!failed) return fd;
  raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
  return failed;
}
