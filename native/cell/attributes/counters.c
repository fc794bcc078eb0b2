/* Descriptors that count: eventfd, timerfd, inotify. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

/* What /proc/PID/fdinfo says of a descriptor. */
static void describe(pid_t process, int number, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", process, number);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
  text[length > 0 ? length : 0] = 0;
}

/* The kernel tells that an eventfd is a semaphore, but CRIU does not ask. */
static void note_semaphore(const struct noting *noting, const struct socket *counter, pid_t process) {
  char text[1024];
  describe(process, counter->number, text, sizeof text);
  if (!strstr(text, "\neventfd-semaphore: 1")) return;
  begin_line(noting->to, "semaphore", counter);
  fputs("-\n", noting->to);
}

/* The kernel counts the ticks that nobody has read when it is asked for the time that is left. */
static void note_ticks(const struct noting *noting, const struct socket *timer, pid_t process) {
  char text[1024];
  struct itimerspec left;
  if (timerfd_gettime(timer->fd, &left)) return;
  describe(process, timer->number, text, sizeof text);
  const char *line = strstr(text, "\nticks: ");
  unsigned long long ticks = line ? strtoull(line + strlen("\nticks: "), NULL, 10) : 0;
  if (ticks < 2) return;
  begin_line(noting->to, "ticks", timer);
  fprintf(noting->to, "%llu\n", ticks);
}

void note_counter(const struct noting *noting, pid_t process, int inside, int number, const char *name) {
  struct socket counter = {.process = inside, .number = number, .fd = -1};
  if (!strcmp(name, "anon_inode:[eventfd]")) note_semaphore(noting, &counter, process);
  bool is_timer = !strcmp(name, "anon_inode:[timerfd]"), is_watcher = !strcmp(name, "anon_inode:inotify");
  if (!is_timer && !is_watcher) return;
  counter.fd = borrow_descriptor(process, number);
  if (counter.fd < 0) return;
  if (is_timer) note_ticks(noting, &counter, process);
  if (is_watcher) note_unread_events(noting, &counter);
  close(counter.fd);
}
