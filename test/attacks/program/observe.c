/* What the host sees of an attack: its files, its processes, and what the kernel still grants. */
#define _GNU_SOURCE
#include "observe.h"
#include "attack.h"
#include "modes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define MOST_PLACES 400
#define MOST_VICTIMS 8

struct place {
  const char *pass, *name;
  char path[600];
  char *before;
  int fifo;
};

static struct place places[MOST_PLACES];
static size_t place_count;
static pid_t victims[MOST_VICTIMS];
static size_t victim_count;
static long signals_before, aio_before;

void observe_victim(pid_t pid) { victims[victim_count++] = pid; }

static void append(char *text, size_t size, const char *format, ...) {
  va_list words;
  va_start(words, format);
  size_t used = strlen(text);
  vsnprintf(text + used, size - used, format, words);
  va_end(words);
}

static void describe_file(const char *path, const char *name, char *text, size_t size) {
  struct stat is;
  char content[256] = "", list[256] = "";
  if (lstat(path, &is)) return;
  if (S_ISREG(is.st_mode)) read_text(path, content, sizeof content);
  if (llistxattr(path, list, sizeof list) < 0) list[0] = '\0';
  append(text, size, "%s %o %u:%u links=%lu size=%ld blocks=%ld at %ld.%ld %ld.%ld [%s] [%s]\n", name, is.st_mode, is.st_uid, is.st_gid,
         (unsigned long)is.st_nlink, (long)is.st_size, S_ISREG(is.st_mode) ? (long)is.st_blocks : 0, is.st_mtim.tv_sec, is.st_mtim.tv_nsec,
         is.st_ctim.tv_sec, is.st_ctim.tv_nsec, content, list);
}

/* The directory itself is in it: its times change with every name that comes or goes. */
static char *describe(const char *directory) {
  static char text[16384];
  text[0] = '\0';
  describe_file(directory, ".", text, sizeof text);
  struct dirent **entries;
  int count = scandir(directory, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char path[900];
    snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
    if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, "..")) describe_file(path, entries[i]->d_name, text, sizeof text);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return strdup(text);
}

static bool is_observed(const char *name) { return !strncmp(name, "host-", 5) && strcmp(name, "host-file-spy") && strcmp(name, "host-socket-connect"); }

void observe_tree(const char *directory, const char *pass) {
  for (size_t i = 0; i < canary_attacks.count; i++) {
    const char *name = canary_attacks.attacks[i].name;
    if (!is_observed(name) || place_count == MOST_PLACES) continue;
    struct place *place = &places[place_count++];
    *place = (struct place){.pass = pass, .name = name, .fifo = -1};
    snprintf(place->path, sizeof place->path, "%s/%s", directory, name);
    if (!strcmp(name, "host-fifo-write")) {
      char fifo[700];
      snprintf(fifo, sizeof fifo, "%s/fifo", place->path);
      place->fifo = open(fifo, O_RDONLY | O_NONBLOCK);
    }
    place->before = describe(place->path);
  }
}

static const char *first_difference(const char *before, const char *after) {
  static char line[160];
  while (*before && *before == *after) before++, after++;
  snprintf(line, sizeof line, "now %s", after);
  line[strcspn(line, "\n")] = '\0';
  return line;
}

static void tell(const char *name, bool changed, const char *detail) { printf("%s\t%s\t%s\n", name, changed ? "changed" : "kept", detail); }

static bool is_lockable(const struct place *place) {
  char path[700];
  snprintf(path, sizeof path, "%s/file", place->path);
  int fd = open(path, O_RDWR);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool free = !strcmp(place->name, "host-file-flock") ? !flock(fd, LOCK_EX | LOCK_NB) : !fcntl(fd, F_SETLK, &whole);
  close(fd);
  return free;
}

static bool is_immutable(const struct place *place) {
  char path[700];
  int flags = 0;
  snprintf(path, sizeof path, "%s/file", place->path);
  int fd = open(path, O_RDONLY);
  ioctl(fd, FS_IOC_GETFLAGS, &flags);
  close(fd);
  return flags & FS_IMMUTABLE_FL;
}

static void tell_place(const struct place *place) {
  char byte;
  if (place->fifo >= 0 && read(place->fifo, &byte, 1) == 1) return tell(place->name, true, "the host read what was written inside");
  if ((!strcmp(place->name, "host-file-flock") || !strcmp(place->name, "host-file-lock")) && !is_lockable(place))
    return tell(place->name, true, "the host does not get the lock");
  if (is_immutable(place)) return tell(place->name, true, "the file is immutable");
  char *after = describe(place->path);
  bool changed = strcmp(place->before, after);
  tell(place->name, changed, changed ? first_difference(place->before, after) : "");
  free(after);
}

static const char *status_line(pid_t pid, const char *label) {
  static char text[4096];
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  if (read_text(path, text, sizeof text) < 0) return "";
  const char *found = strstr(text, label);
  return found ? found + strlen(label) : "";
}

static void tell_victims(void) {
  bool signalled = false, slowed = false;
  for (size_t i = 0; i < victim_count; i++) {
    unsigned long long pending = strtoull(status_line(victims[i], "ShdPnd:"), NULL, 16);
    signalled = signalled || pending >> (SIGURG - 1) & 1;
    slowed = slowed || getpriority(PRIO_PROCESS, (id_t)victims[i]) == 3;
  }
  tell("process-kill-all", signalled, signalled ? "the signal came" : "");
  tell("process-nice-user", slowed, slowed ? "a process of the host was slowed down" : "");
}

static long queued_signals(void) { return strtol(status_line(getpid(), "SigQ:"), NULL, 10); }

static long aio_in_use(void) {
  char text[32] = "";
  read_text("/proc/sys/fs/aio-nr", text, sizeof text);
  return atol(text);
}

void begin_observation(void) {
  signals_before = queued_signals();
  aio_before = aio_in_use();
}

/* With a limit that leaves room for little more than one, so that any others would get in the way. */
static bool gets_queue(void) {
  struct rlimit old, low;
  getrlimit(RLIMIT_MSGQUEUE, &old);
  low = old;
  low.rlim_cur = 400000;
  setrlimit(RLIMIT_MSGQUEUE, &low);
  int queue = mq_open("/forkpoint-attack-look", O_CREAT | O_RDWR, 0600, &(struct mq_attr){.mq_maxmsg = 10, .mq_msgsize = 8192});
  mq_unlink("/forkpoint-attack-look");
  setrlimit(RLIMIT_MSGQUEUE, &old);
  if (queue >= 0) close(queue);
  return queue >= 0;
}

static bool gets_timer(void) {
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, NULL, &timer)) return false;
  timer_delete(timer);
  return true;
}

static bool gets_inotify(void) {
  struct rlimit old, none = {0, 0};
  getrlimit(RLIMIT_NOFILE, &old);
  none.rlim_max = old.rlim_max;
  if (in_weak_place()) setrlimit(RLIMIT_NOFILE, &none); /* what a kernel with none left answers */
  int fd = inotify_init1(0);
  setrlimit(RLIMIT_NOFILE, &old);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static void tell_counters(void) {
  char text[96];
  long signals = queued_signals() - signals_before, aio = aio_in_use() - aio_before;
  snprintf(text, sizeof text, "%ld more signals count as the host's", signals);
  tell("flood-signals", signals > 200 || !gets_timer(), text);
  snprintf(text, sizeof text, "%ld more of fs.aio-nr", aio);
  tell("flood-aio", aio >= 128, text);
  tell("flood-queues", !gets_queue(), "mq_open of the host");
  tell("flood-inotify", !gets_inotify(), "inotify_init of the host");
}

void tell_observations(const char *pass) {
  for (size_t i = 0; i < place_count; i++)
    if (!strcmp(places[i].pass, pass)) tell_place(&places[i]);
  tell_victims();
  tell_counters();
}
