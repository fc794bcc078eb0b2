/* Pipes that CRIU does not restore as they are: those that keep packets apart, and all if there are so many that CRIU
 * and the limits of a user have no room for them. */
#define _GNU_SOURCE
#include "pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "waits.h"

#define MOST_BYTES (1 << 26)
#define MOST_FOR_CRIU 1000 /* see preload/objects/pipes.c */

struct pipe {
  unsigned long inode;
  pid_t process; /* of the host */
  int inside, number;
  bool is_readable, has_packets;
};

static int by_inode(const void *a, const void *b) {
  const struct pipe *first = a, *second = b;
  return (first->inode > second->inode) - (first->inode < second->inode);
}

static struct pipe *pipe_of(struct noting *noting, unsigned long inode) {
  struct pipe sought = {.inode = inode};
  struct pipe **found = tfind(&sought, &noting->pipes, by_inode);
  if (found) return *found;
  struct pipe *made = require_memory(calloc(1, sizeof *made));
  made->inode = inode;
  require_memory(tsearch(made, &noting->pipes, by_inode));
  noting->pipe_count++;
  return made;
}

void note_pipe(struct noting *noting, pid_t process, int inside, int number, unsigned long inode) {
  autoclose int fd = borrow_descriptor(process, number);
  int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
  if (flags < 0) return;
  struct pipe *pipe = pipe_of(noting, inode);
  if (flags & O_DIRECT) {
    fprintf(noting->to, "packet-mode %d %d -\n", inside, number);
    noting->has_packets = pipe->has_packets = true;
  }
  if ((flags & O_ACCMODE) == O_WRONLY || pipe->is_readable) return;
  pipe->is_readable = true;
  pipe->process = process;
  pipe->inside = inside;
  pipe->number = number;
}

/* A copy of what is in a pipe, which it does not notice, and the size of the pipe. */
static int copy_contents(int fd, int *size) {
  int ends[2];
  *size = fcntl(fd, F_GETPIPE_SZ);
  if (*size < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK)) return -1;
  fcntl(ends[1], F_SETPIPE_SZ, *size);
  ssize_t copied = tee(fd, ends[1], (size_t)*size, SPLICE_F_NONBLOCK);
  int code = errno;
  close(ends[1]);
  if (copied >= 0 || code == EAGAIN) return ends[0];
  close(ends[0]);
  return -1;
}

/* Each read returns a packet, or all that are not kept apart. */
static void note_contents(FILE *to, const struct pipe *pipe) {
  int size;
  autoclose int fd = borrow_descriptor(pipe->process, pipe->number);
  autoclose int copy = fd < 0 ? -1 : copy_contents(fd, &size);
  autofree char *bytes = copy < 0 ? NULL : malloc((size_t)size);
  if (!bytes) die("copy pipe %lu of process %d", pipe->inode, pipe->inside);
  fprintf(to, "pipe %d %d %d %c", pipe->inside, pipe->number, size, pipe->has_packets ? 'p' : 'b');
  for (ssize_t length; (length = read(copy, bytes, (size_t)size)) > 0;) {
    putc(' ', to);
    print_hex(to, bytes, (size_t)length);
  }
  putc('\n', to);
}

static void note_one(const void *node, VISIT when, void *noting_) {
  const struct noting *noting = noting_;
  const struct pipe *pipe = *(struct pipe *const *)node;
  if (when != postorder && when != leaf) return;
  if (pipe->is_readable && (pipe->has_packets || noting->pipe_count > MOST_FOR_CRIU)) note_contents(noting->to, pipe);
}

void note_pipes(struct noting *noting) {
  if (noting->has_packets || noting->pipe_count > MOST_FOR_CRIU) twalk_r(noting->pipes, note_one, noting);
}

/* One that CRIU does not share with the process. */
static int open_end(const struct target *target, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", target->process, target->descriptor);
  return open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

/* open(2) refuses the flag. */
static int set_packet_mode(int fd) { return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_DIRECT); }

int put_packet_mode(const struct target *target, const char *value) {
  (void)value;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  return fd < 0 || set_packet_mode(fd) ? errno : 0;
}

static int write_parts(int fd, const char *value) {
  size_t room = strlen(value) / 2 + 1;
  autofree char *bytes = malloc(room);
  if (!bytes) return ENOMEM;
  for (const char *at = value; *at; at += strcspn(at, " ")) {
    at += strspn(at, " ");
    ssize_t length = parse_hex(at, bytes, room);
    if (length < 0) return EINVAL;
    ssize_t written = write(fd, bytes, (size_t)length);
    if (written != length) return written < 0 ? errno : ENOSPC;
  }
  return 0;
}

/* CRIU has put bytes into it, without a border between packets, or none. */
static void drain(const struct target *target) {
  char bytes[4096];
  autoclose int fd = open_end(target, O_RDONLY);
  while (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) continue;
}

int put_pipe(const struct target *target, const char *value) {
  int size, at = 0;
  char kind;
  struct stat info;
  if (sscanf(value, "%d %c%n", &size, &kind, &at) != 2 || !at || size > MOST_BYTES) return EINVAL;
  autoclose int fd = open_end(target, O_WRONLY);
  if (fd < 0 || fstat(fd, &info)) return errno;
  if (!S_ISFIFO(info.st_mode)) return EINVAL;
  if (kind == 'p' && set_packet_mode(fd)) return errno;
  if (fcntl(fd, F_GETPIPE_SZ) != size && fcntl(fd, F_SETPIPE_SZ, size) < 0) return errno;
  drain(target);
  return write_parts(fd, value + at);
}
