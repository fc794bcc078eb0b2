#define _GNU_SOURCE
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "files.h"
#include "loop.h"
#include "records.h"
#include "stream.h"
#include "util.h"

#define FLAG_RECURSIVE 1
#define MASK \
  (IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* While the host does not read, events wait in the kernel's own bounded queue. */
#define RECORDS_LIMIT 262144

/* Directories that are scanned before other work gets its turn. */
#define SLICE 64

enum {
  EVENT_CREATED = 1,
  EVENT_MODIFIED,
  EVENT_DELETED,
  EVENT_MOVED_FROM,
  EVENT_MOVED_TO,
  EVENT_ATTRIBUTES,
  EVENT_OVERFLOW
};

/* A directory to watch and look through. The entries of a new one are reported. */
struct scan {
  struct list link;
  char *path; /* relative; "" is the root */
  bool report;
};

struct watch {
  struct source source;
  struct stream *stream;
  char *root;
  bool recursive, standing;
  char **paths; /* by watch descriptor, or NULL */
  int paths_length;
  struct list scans;
  struct buffer records;
};

static char *join(const char *directory, const char *name) {
  return *directory && *name ? format("%s/%s", directory, name) : strdup(*directory ? directory : name);
}

static void add_record(struct watch *watch, int event, const char *path, uint32_t cookie) {
  size_t record = record_begin(&watch->records);
  put_int(&watch->records, KEY_EVENT, event);
  put_string(&watch->records, KEY_PATH, path);
  if (cookie) put_int(&watch->records, KEY_COOKIE, cookie);
  record_end(&watch->records, record);
}

static int remember(struct watch *watch, int descriptor, const char *path) {
  if (descriptor >= watch->paths_length) {
    int length = descriptor < 32 ? 64 : descriptor * 2;
    char **grown = realloc(watch->paths, length * sizeof *grown);
    if (!grown) return -1;
    memset(grown + watch->paths_length, 0, (length - watch->paths_length) * sizeof *grown);
    watch->paths = grown;
    watch->paths_length = length;
  }
  free(watch->paths[descriptor]);
  watch->paths[descriptor] = strdup(path);
  return watch->paths[descriptor] ? 0 : -1;
}

static int add_watch(struct watch *watch, const char *path) {
  autofree char *full = *path ? format("%s/%s", watch->root, path) : strdup(watch->root);
  int follow = *path ? IN_DONT_FOLLOW | IN_ONLYDIR : 0;
  int descriptor = full ? inotify_add_watch(watch->source.fd, full, MASK | follow) : -1;
  return descriptor < 0 ? -1 : remember(watch, descriptor, path);
}

static void plan_scan(struct watch *watch, const char *path, bool report) {
  struct scan *scan = malloc(sizeof *scan);
  if (!scan || !(scan->path = strdup(path))) {
    free(scan);
    add_record(watch, EVENT_OVERFLOW, "", 0);
    return;
  }
  scan->report = report;
  list_append(&watch->scans, &scan->link);
}

static void look_through(struct watch *watch, const struct scan *scan) {
  autofree char *full = *scan->path ? format("%s/%s", watch->root, scan->path) : strdup(watch->root);
  int fd = full ? open(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  struct dirent *entry;
  if (!directory) {
    close_fd(&fd);
    return;
  }
  while ((entry = readdir(directory))) {
    struct stat status;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    autofree char *path = join(scan->path, entry->d_name);
    if (path && scan->report) add_record(watch, EVENT_CREATED, path, 0);
    if (path && (entry->d_type == DT_DIR ||
                 (entry->d_type == DT_UNKNOWN && fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISDIR(status.st_mode))))
      plan_scan(watch, path, scan->report);
  }
  closedir(directory);
}

/* Watches one planned directory. The watch comes before the look, so that an entry that appears in between is reported,
 * perhaps twice, but not missed. 0, or -1 with errno if there can be no more watches. */
static int run_scan(struct watch *watch) {
  struct scan *scan = container_of(watch->scans.next, struct scan, link);
  int added = add_watch(watch, scan->path);
  /* It needs no watch if it is gone, or not a directory any more. */
  if (added < 0 && *scan->path && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES))
    added = 0;
  else if (added == 0 && watch->recursive)
    look_through(watch, scan);
  int failure = errno;
  list_remove(&scan->link);
  free(scan->path);
  free(scan);
  errno = failure;
  return added;
}

/* Forgets the watches below a directory that was moved away: they would report under its old name. */
static void forget_below(struct watch *watch, const char *path) {
  size_t length = strlen(path);
  for (int i = 0; i < watch->paths_length; i++) {
    const char *known = watch->paths[i];
    if (!known || strncmp(known, path, length) || (known[length] && known[length] != '/')) continue;
    inotify_rm_watch(watch->source.fd, i);
    free(watch->paths[i]);
    watch->paths[i] = NULL;
  }
}

static int event_of(uint32_t mask) {
  return mask & IN_CREATE       ? EVENT_CREATED
         : mask & IN_MODIFY     ? EVENT_MODIFIED
         : mask & IN_DELETE     ? EVENT_DELETED
         : mask & IN_MOVED_FROM ? EVENT_MOVED_FROM
         : mask & IN_MOVED_TO   ? EVENT_MOVED_TO
         : mask & IN_ATTRIB     ? EVENT_ATTRIBUTES
                                : 0;
}

static void handle_directory(struct watch *watch, uint32_t mask, const char *path) {
  if (mask & IN_MOVED_FROM) forget_below(watch, path);
  if (mask & (IN_CREATE | IN_MOVED_TO)) plan_scan(watch, path, true);
}

static void handle_event(struct watch *watch, const struct inotify_event *event) {
  const char *known = event->wd >= 0 && event->wd < watch->paths_length ? watch->paths[event->wd] : NULL;
  if (event->mask & IN_Q_OVERFLOW) {
    add_record(watch, EVENT_OVERFLOW, "", 0);
    return;
  }
  if (!known) return;
  /* The parent reports the end of a subdirectory, but the root has no parent here. */
  if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF)) {
    if (!*known) add_record(watch, event->mask & IN_DELETE_SELF ? EVENT_DELETED : EVENT_MOVED_FROM, "", 0);
    return;
  }
  if (event->mask & IN_IGNORED) {
    free(watch->paths[event->wd]);
    watch->paths[event->wd] = NULL;
    return;
  }
  autofree char *path = join(known, event->len ? event->name : "");
  int kind = event_of(event->mask);
  /* The parent also reports attributes of a subdirectory. */
  if (!path || !kind || (!event->len && *known)) return;
  add_record(watch, kind, path, event->cookie);
  if (watch->recursive && event->mask & IN_ISDIR) handle_directory(watch, event->mask, path);
}

static void watch_ready(struct source *source, uint32_t events) {
  struct watch *watch = container_of(source, struct watch, source);
  char bytes[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
  ssize_t got = read(source->fd, bytes, sizeof bytes);
  (void)events;
  for (char *at = bytes; got > 0 && at < bytes + got;) {
    const struct inotify_event *event = (void *)at;
    handle_event(watch, event);
    at += sizeof *event + event->len;
  }
  if (watch->records.length > RECORDS_LIMIT) source_watch(source, 0);
  stream_wake(watch->stream);
}

static void stand(struct watch *watch) {
  struct buffer nothing = {0};
  if (watch->standing) return;
  watch->standing = true;
  stream_event(watch->stream, &nothing);
}

static void pump(struct stream *stream) {
  struct watch *watch = stream->context;
  for (int i = 0; i < SLICE && !list_empty(&watch->scans) && watch->records.length <= RECORDS_LIMIT; i++)
    if (run_scan(watch) < 0) {
      stream_fail_call(stream, errno, "inotify_add_watch below '%s'", watch->root);
      return;
    }
  if (watch->records.failed) {
    stream_fail_call(stream, ENOMEM, "malloc for the events of '%s'", watch->root);
    return;
  }
  if (list_empty(&watch->scans)) stand(watch);
  if (watch->standing) records_flush(stream, &watch->records);
  if (watch->records.length <= RECORDS_LIMIT) source_watch(&watch->source, EPOLLIN);
  if (!list_empty(&watch->scans) || (watch->records.length && stream->send_window[CHANNEL_OUT] > 0))
    stream_wake(stream);
}

static void watch_free(struct watch *watch) {
  source_close(&watch->source);
  while (!list_empty(&watch->scans)) {
    struct scan *scan = container_of(watch->scans.next, struct scan, link);
    list_remove(&scan->link);
    free(scan->path);
    free(scan);
  }
  for (int i = 0; i < watch->paths_length; i++) free(watch->paths[i]);
  free(watch->paths);
  buffer_free(&watch->records);
  free(watch->root);
  free(watch);
}

static void closed(struct stream *stream) { watch_free(stream->context); }

static const struct stream_ops ops = {.pump = pump, .closed = closed};

void op_file_watch(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  struct watch *watch = path ? calloc(1, sizeof *watch) : NULL;
  if (!path) return;
  if (!watch) {
    stream_fail_call(stream, ENOMEM, "calloc to watch '%s'", path);
    return;
  }
  list_init(&watch->scans);
  watch->stream = stream;
  watch->root = realpath(path, NULL);
  watch->recursive = fields_int(fields, KEY_FLAGS, 0) & FLAG_RECURSIVE;
  source_init(&watch->source, watch->root ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1, watch_ready);
  if (watch->source.fd < 0) {
    stream_fail_call(stream, errno, "%s '%s'", watch->root ? "inotify_init1 for" : "realpath", path);
    watch_free(watch);
    return;
  }
  plan_scan(watch, "", false);
  stream_adopt(stream, &ops, watch);
  stream_wake(stream);
}
