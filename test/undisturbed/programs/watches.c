/* Watches on files: nothing unread is lost, and a snapshot itself causes no event. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char events[16384];

static ssize_t unread(int fd) {
  int bytes = 0;
  MUST(ioctl(fd, FIONREAD, &bytes));
  return bytes;
}

/* The next event, or NULL. */
static const struct inotify_event *next_event(int fd) {
  return read(fd, events, sizeof events) > 0 ? (const struct inotify_event *)events : NULL;
}

static void unread_events(void) {
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  int watch = MUST(inotify_add_watch(fd, ".", IN_CREATE | IN_DELETE));
  write_file("one", "");
  write_file("two", "");
  MUST(unlink("one"));
  ssize_t waiting = unread(fd);
  hold();
  same("unread bytes", waiting, unread(fd));
  char names[200] = "";
  ssize_t got = read(fd, events, sizeof events);
  for (ssize_t at = 0; at < got;) {
    const struct inotify_event *event = (const void *)(events + at);
    same("watch", watch, event->wd);
    if (event->mask & IN_Q_OVERFLOW)
      strcat(names, "!");
    else
      strcat(strcat(names, event->mask & IN_CREATE ? "+" : "-"), event->name);
    at += (ssize_t)(sizeof *event + event->len);
  }
  same_text("the events", "+one+two-one", names);
}

/* A snapshot makes, moves and removes nothing where a program watches, even if that has files open there. */
static void quiet_directory(void) {
  MUST(mkdir("watched", 0700));
  MUST(open("watched/open", O_RDWR | O_CREAT, 0600));
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  MUST(inotify_add_watch(fd, "watched", IN_ALL_EVENTS));
  hold();
  const struct inotify_event *event = next_event(fd);
  if (event) notice("an event 0x%x on \"%s\"", event->mask, event->len ? event->name : "");
  write_file("watched/new", "");
  event = next_event(fd);
  EXPECT(event && event->mask == IN_CREATE && strcmp(event->name, "new") == 0);
}

/* Nothing is opened, read or touched, neither what was made here nor what was there before. Others may be at work in
 * the first of these, so only events on those themselves count. */
static void quiet_tree(void) {
  static const char *const paths[] = {"/", "/usr/share", "tree", "tree/deep", "tree/deep/er", "tree/deep/er/file"};
  enum { COUNT = sizeof paths / sizeof *paths, SHARED = 2 };
  struct stat before[COUNT], after;
  int watches[COUNT], fd = MUST(inotify_init1(IN_NONBLOCK));
  for (size_t i = SHARED; i < COUNT - 1; i++) MUST(mkdir(paths[i], 0700));
  write_file(paths[COUNT - 1], "");
  for (size_t i = 0; i < COUNT; i++) {
    watches[i] = MUST(inotify_add_watch(fd, paths[i], IN_ALL_EVENTS));
    MUST(stat(paths[i], &before[i]));
  }
  hold();
  ssize_t got = read(fd, events, sizeof events);
  for (ssize_t at = 0; at < got;) {
    const struct inotify_event *event = (const void *)(events + at);
    for (size_t i = 0; i < COUNT; i++)
      if (event->wd == watches[i] && (i >= SHARED || !event->len))
        notice("an event 0x%x on \"%s\" in %s", event->mask, event->len ? event->name : "", paths[i]);
    at += (ssize_t)(sizeof *event + event->len);
  }
  for (size_t i = SHARED; i < COUNT; i++) {
    MUST(stat(paths[i], &after));
    same(paths[i], before[i].st_atim.tv_nsec, after.st_atim.tv_nsec);
  }
}

/* Nobody makes, moves or removes anything; reading a deleted file cannot be avoided. */
static void quiet_deleted_file(void) {
  MUST(mkdir("watched", 0700));
  MUST(open("watched/deleted", O_RDWR | O_CREAT, 0600));
  MUST(unlink("watched/deleted"));
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  MUST(inotify_add_watch(fd, "watched", IN_CREATE | IN_DELETE | IN_MOVE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE));
  hold();
  EXPECT(next_event(fd) == NULL);
}

static void deleted_file_opened(void) {
  MUST(mkdir("watched", 0700));
  MUST(open("watched/deleted", O_RDWR | O_CREAT, 0600));
  MUST(unlink("watched/deleted"));
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  MUST(inotify_add_watch(fd, "watched", IN_OPEN));
  hold();
  const struct inotify_event *event = next_event(fd);
  if (event) notice("an event 0x%x on \"%s\"", event->mask, event->len ? event->name : "");
}

static void watched_executable(void) {
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  MUST(inotify_add_watch(fd, "/proc/self/exe", IN_OPEN | IN_ACCESS));
  hold();
  const struct inotify_event *event = next_event(fd);
  if (event) notice("an event 0x%x", event->mask);
}

static void quiet_links(void) {
  MUST(mkdir("watched", 0700));
  MUST(open("watched/first", O_RDWR | O_CREAT, 0600));
  MUST(link("watched/first", "second"));
  MUST(unlink("watched/first"));
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  MUST(inotify_add_watch(fd, "watched", IN_ALL_EVENTS));
  MUST(inotify_add_watch(fd, "second", IN_ALL_EVENTS));
  hold();
  const struct inotify_event *event = next_event(fd);
  if (event) notice("an event 0x%x on \"%s\"", event->mask, event->len ? event->name : "");
}

static void deleted_watched_file(void) {
  write_file("watched", "");
  MUST(open("watched", O_RDONLY));
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  int watch = MUST(inotify_add_watch(fd, "watched", IN_MODIFY | IN_DELETE_SELF));
  MUST(unlink("watched"));
  hold();
  const struct inotify_event *event = next_event(fd);
  if (event) notice("an event 0x%x", event->mask);
  EXPECT(inotify_rm_watch(fd, watch) == 0);
}

/* Numbers of watches are never used twice. */
static void watch_numbers(void) {
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  write_file("a", "");
  write_file("b", "");
  int first = MUST(inotify_add_watch(fd, "a", IN_MODIFY)), second = MUST(inotify_add_watch(fd, "b", IN_MODIFY));
  MUST(inotify_rm_watch(fd, second));
  MUST(next_event(fd) ? 0 : -1);
  hold();
  same("number of the first watch", first, inotify_add_watch(fd, "a", IN_MODIFY));
  same("number of the next watch", second + 1, inotify_add_watch(fd, "b", IN_MODIFY));
}

static void many_watches(void) {
  static int watches[1000];
  char name[32];
  int fd = MUST(inotify_init1(IN_NONBLOCK));
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "directory-%d", i);
    MUST(mkdir(name, 0700));
    watches[i] = MUST(inotify_add_watch(fd, name, IN_CREATE));
  }
  hold();
  for (int i = 0; i < 1000; i += 37) {
    snprintf(name, sizeof name, "directory-%d/new", i);
    write_file(name, "");
    const struct inotify_event *event = next_event(fd);
    EXPECT(event && event->wd == watches[i] && event->mask == IN_CREATE);
  }
}

static volatile int notified;
static void on_notify(int signal) { notified += signal == SIGRTMIN + 3; }

static void directory_notification(void) {
  signal(SIGRTMIN + 3, on_notify);
  MUST(mkdir("watched", 0700));
  int fd = MUST(open("watched", O_RDONLY | O_DIRECTORY));
  MUST(fcntl(fd, F_SETSIG, SIGRTMIN + 3));
  MUST(fcntl(fd, F_NOTIFY, DN_CREATE | DN_MULTISHOT));
  hold();
  same("notifications that nothing caused", 0, notified);
  write_file("watched/new", "");
  same("notifications", 1, notified);
}

static void file_access_notification(void) {
  int fd = MUST(fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY));
  write_file("watched", "");
  MUST(fanotify_mark(fd, FAN_MARK_ADD, FAN_CLOSE_WRITE, AT_FDCWD, "watched"));
  hold();
  EXPECT(read(fd, events, sizeof events) < 0 && errno == EAGAIN);
  write_file("watched", "x");
  EXPECT(read(fd, events, sizeof events) > 0);
}

const struct program watch_programs[] = {
    {"unread-events", unread_events},
    {"quiet-directory", quiet_directory},
    {"quiet-tree", quiet_tree},
    {"quiet-deleted-file", quiet_deleted_file},
    {"deleted-file-opened", deleted_file_opened},
    {"quiet-links", quiet_links},
    {"watched-executable", watched_executable},
    {"deleted-watched-file", deleted_watched_file},
    {"watch-numbers", watch_numbers},
    {"many-watches", many_watches},
    {"directory-notification", directory_notification},
    {"file-access-notification", file_access_notification},
    {0},
};
