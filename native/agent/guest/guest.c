#define _GNU_SOURCE
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

#include "loop.h"
#include "parent.h"
#include "util.h"

/* A program may fork while it is killed. */
#define END_TRIES 2000
#define END_PAUSE_MS 5

static struct source terminations;
static char *own_directory;
static char *parent_directory;
static struct timespec parent_times[2]; /* for utimensat: its times before we came */

/* What loses its parent becomes our child, so in the end every process that was started through us is one. */
static void kill_children(void) {
  DIR *processes = opendir("/proc");
  struct dirent *entry;
  while (processes && (entry = readdir(processes))) {
    pid_t pid = atoi(entry->d_name);
    if (pid > 0 && parent_of(pid) == getpid()) kill(pid, SIGKILL);
  }
  if (processes) closedir(processes);
}

static void end_children(void) {
  static const struct timespec pause = {.tv_nsec = END_PAUSE_MS * 1000000};
  for (int tries = 0; tries < END_TRIES; tries++) {
    kill_children();
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return;
    nanosleep(&pause, NULL);
  }
}

static void leave(struct source *source, uint32_t events) {
  struct error error;
  (void)source, (void)events;
  end_children();
  int removed = guest_remove(own_directory, &error);
  utimensat(AT_FDCWD, parent_directory, parent_times, 0);
  _exit(removed < 0 ? 1 : 0);
}

static int watch_for_the_end(struct error *error) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) return error_set(error, errno, "sigprocmask SIGTERM");
  int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0) return error_set(error, errno, "signalfd SIGTERM");
  source_init(&terminations, fd, leave);
  if (source_watch(&terminations, EPOLLIN) < 0) return error_set(error, errno, "epoll_ctl of the signalfd");
  return 0;
}

static int copy_to(int from, const char *path, struct error *error) {
  char bytes[65536];
  autoclose int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
  if (to < 0) return error_set(error, errno, "open '%s'", path);
  for (;;) {
    ssize_t got = read(from, bytes, sizeof bytes);
    if (got < 0) return error_set(error, errno, "read '/proc/self/exe'");
    if (got == 0) return 0;
    if (write(to, bytes, got) != got) return error_set(error, errno ? errno : ENOSPC, "write '%s'", path);
  }
}

/* For relays, which are started when the file that this agent was started from is gone. */
static int copy_program(const char *directory, struct error *error) {
  struct statvfs volume;
  if (statvfs(directory, &volume) == 0 && volume.f_flag & ST_NOEXEC) return 0;
  autofree char *path = format("%s/agent", directory);
  autoclose int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (!path) return error_set(error, ENOMEM, "malloc");
  if (from < 0) return error_set(error, errno, "open '/proc/self/exe'");
  return copy_to(from, path, error);
}

int guest_enter(const char *directory, struct error *error) {
  struct stat before;
  const char *slash = strrchr(directory, '/');
  if (!slash || slash == directory) return error_refuse(error, EINVAL, "'%s' is in no directory", directory);
  own_directory = strdup(directory);
  parent_directory = strndup(directory, slash - directory);
  if (!own_directory || !parent_directory) return error_set(error, ENOMEM, "malloc");
  if (stat(parent_directory, &before) < 0) return error_set(error, errno, "stat '%s'", parent_directory);
  parent_times[0] = before.st_atim;
  parent_times[1] = before.st_mtim;
  /* Commands of other users reach their pipes in it. */
  if (mkdir(directory, 0711) < 0) return error_set(error, errno, "mkdir '%s'", directory);
  /* Otherwise nobody could see what runs here, if starting us gave us more capabilities. */
  prctl(PR_SET_DUMPABLE, 1);
  if (copy_program(directory, error) < 0) return -1;
  return watch_for_the_end(error);
}

int guest_remove(const char *directory, struct error *error) {
  DIR *entries = opendir(directory);
  struct dirent *entry;
  if (!entries) return errno == ENOENT ? 0 : error_set(error, errno, "opendir '%s'", directory);
  while ((entry = readdir(entries)))
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) unlinkat(dirfd(entries), entry->d_name, 0);
  closedir(entries);
  return rmdir(directory) < 0 ? error_set(error, errno, "rmdir '%s'", directory) : 0;
}
