#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "files.h"
#include "stream.h"
#include "util.h"

enum { FLAG_RECURSIVE = 1, FLAG_MISSING_OK = 2 };

static int remove_tree(int parent, const char *name);

static void close_directory(DIR **directory) {
  int code = errno;
  if (*directory) closedir(*directory);
  errno = code;
}

#define autodirectory __attribute__((cleanup(close_directory)))

/* Takes the directory over. 0, or -1 with errno. */
static int remove_entries(int fd) {
  autoclose int owned = fd;
  autodirectory DIR *directory = fdopendir(fd);
  if (!directory) return -1;
  take_fd(&owned); /* the stream closes it */
  struct dirent *entry;
  while ((errno = 0, entry = readdir(directory)))
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && remove_tree(fd, entry->d_name) < 0) return -1;
  return errno ? -1 : 0;
}

/* Each step goes through the parent's descriptor and follows no symlink, so nothing outside the tree is reached,
 * whatever is moved meanwhile. */
static int remove_tree(int parent, const char *name) {
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return -1;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  if (remove_entries(fd) < 0) return -1;
  return unlinkat(parent, name, AT_REMOVEDIR);
}

struct removal {
  struct child child;
  struct stream *stream;
  char *path;
};

static void removal_ended(struct child *child, int wait_status) {
  struct removal *removal = container_of(child, struct removal, child);
  int failure = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EINTR;
  if (failure)
    stream_fail_call(removal->stream, failure, "remove '%s'", removal->path);
  else
    stream_done(removal->stream);
}

static void closed(struct stream *stream) {
  struct removal *removal = stream->context;
  if (removal->child.pid) kill(removal->child.pid, SIGKILL);
  child_forget(&removal->child);
  free(removal->path);
  free(removal);
}

static const struct stream_ops ops = {.closed = closed};

/* A large tree takes long, so a child removes it while the agent serves others. Its exit status is errno. */
static void remove_in_child(struct stream *stream, char *path) {
  struct removal *removal = calloc(1, sizeof *removal);
  pid_t pid = removal ? fork() : -1;
  if (pid == 0) {
    /* Somebody may wait for the end of a connection or pipe that is open here, too. */
    close_range(3, ~0U, 0);
    _exit(remove_tree(AT_FDCWD, path) < 0 ? errno : 0);
  }
  if (pid < 0) {
    stream_fail_call(stream, errno, "fork to remove '%s'", path);
    free(removal);
    free(path);
    return;
  }
  removal->stream = stream;
  removal->path = path;
  list_init(&removal->child.link);
  child_add(&removal->child, pid, removal_ended);
  stream_adopt(stream, &ops, removal);
}

void op_file_remove(struct stream *stream, const struct fields *fields) {
  autofree char *path = path_field(stream, fields, KEY_PATH);
  int64_t flags = fields_int(fields, KEY_FLAGS, 0);
  struct stat status;
  if (!path) return;
  bool there = lstat(path, &status) == 0;
  if (!there && errno == ENOENT && flags & FLAG_MISSING_OK)
    stream_done(stream);
  else if (!there)
    stream_fail_call(stream, errno, "lstat '%s'", path);
  else if (S_ISDIR(status.st_mode) && flags & FLAG_RECURSIVE)
    remove_in_child(stream, take_pointer(&path));
  else if ((S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path)) < 0)
    stream_fail_call(stream, errno, "%s '%s'", S_ISDIR(status.st_mode) ? "rmdir" : "unlink", path);
  else
    stream_done(stream);
}
