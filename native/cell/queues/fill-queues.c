/* Makes the POSIX message queues of a copy that nobody has open, and fills all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queues.h"
#include "shared/owned.h"

struct queue {
  char name[2 * NAME_MAX + 2], state[16];
  long most_messages, most_bytes;
  unsigned mode, uid, gid;
};

static int send_all(int fd, const char *messages) {
  size_t room = strlen(messages) / 2 + 1;
  autofree char *bytes = malloc(room);
  if (!bytes) return ENOMEM;
  for (const char *at = messages + strspn(messages, " "); *at; at += strspn(at, " ")) {
    char *colon;
    unsigned long priority = strtoul(at, &colon, 10);
    ssize_t length = *colon == ':' ? parse_hex(colon + 1, bytes, room) : -1;
    if (length < 0) return EINVAL;
    if (mq_send(fd, bytes, (size_t)length, (unsigned)priority)) return errno;
    at = colon + strcspn(colon, " ");
  }
  return 0;
}

static int enter(pid_t process, const char *name, int type) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", process, name);
  autoclose int namespace = open(path, O_RDONLY | O_CLOEXEC);
  return namespace < 0 || setns(namespace, type) ? errno : 0;
}

/* In a process of its own, which becomes the root of the copy: the host's users do not exist there. */
static int make_and_fill(const struct target *target, const struct queue *queue, const char *messages) {
  char name[NAME_MAX + 1];
  struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  struct mq_attr attributes = {.mq_maxmsg = queue->most_messages, .mq_msgsize = queue->most_bytes};
  ssize_t length = parse_hex(queue->name, name, sizeof name - 1);
  if (length <= 0 || memchr(name, 0, (size_t)length)) return EINVAL;
  name[length] = 0;
  setrlimit(RLIMIT_MSGQUEUE, &none); /* not every root may; most queues fit */
  int code = enter(target->process, "user", CLONE_NEWUSER);
  if (!code) code = enter(target->process, "ipc", CLONE_NEWIPC);
  if (code || setresgid(0, 0, 0) || setresuid(0, 0, 0)) return code ? code : errno;
  autoclose int fd = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600, &attributes);
  if (fd < 0 || fchown(fd, queue->uid, queue->gid) || fchmod(fd, queue->mode)) return errno;
  code = send_all(fd, messages);
  if (!code && !strcmp(queue->state, "deleted") && syscall(SYS_mq_unlink, name)) code = errno;
  return code;
}

int put_queue(const struct target *target, const char *value) {
  struct queue queue;
  int at = 0, status;
  if (sscanf(value, "%511s %15s %ld %ld %o %u %u%n", queue.name, queue.state, &queue.most_messages, &queue.most_bytes,
             &queue.mode, &queue.uid, &queue.gid, &at) != 7)
    return EINVAL;
  pid_t child = fork();
  if (child < 0) return errno;
  if (!child) _exit(make_and_fill(target, &queue, value + at));
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}
