#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

static struct source signals;
static struct list children = LIST_INIT(children);

static struct child *find(pid_t pid) {
  list_for_each(node, &children) {
    struct child *child = container_of(node, struct child, link);
    if (child->pid == pid) return child;
  }
  return NULL;
}

static void reap_all(struct source *source, uint32_t events) {
  struct signalfd_siginfo information[16];
  int status;
  pid_t pid;
  (void)events;
  while (read(source->fd, information, sizeof information) > 0) continue;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    struct child *child = find(pid);
    if (!child) continue;
    child_forget(child);
    child->exited(child, status);
  }
}

int children_open(struct error *error) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) return error_set(error, errno, "sigprocmask SIGCHLD");
  int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0) return error_set(error, errno, "signalfd SIGCHLD");
  source_init(&signals, fd, reap_all);
  if (source_watch(&signals, EPOLLIN) < 0) return error_set(error, errno, "epoll_ctl of the signalfd");
  return 0;
}

void child_add(struct child *child, pid_t pid, void (*exited)(struct child *, int)) {
  child->pid = pid;
  child->exited = exited;
  list_append(&children, &child->link);
}

void child_forget(struct child *child) {
  if (!child->pid) return;
  child->pid = 0;
  list_remove(&child->link);
}

void child_kill_group(const struct child *child, int signal) {
  if (child->pid > 0 && kill(-child->pid, signal) < 0) kill(child->pid, signal);
}
