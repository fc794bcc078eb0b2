/* A path that grows by a component and shrinks again, as a walk goes down and up. It
 * may be longer than the kernel takes: it is only ever shown, compared or taken apart. */
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_room(struct path *path, size_t length) {
  if (length < path->capacity) return;
  path->capacity = 2 * length + 256;
  path->text = realloc(path->text, path->capacity);
  if (!path->text) die("realloc", "path");
}

void set_path(struct path *path, const char *text) {
  path->length = strlen(text);
  make_room(path, path->length + 1);
  memcpy(path->text, text, path->length + 1);
}

size_t append_name(struct path *path, const char *name) {
  size_t before = path->length, added = strlen(name);
  make_room(path, before + added + 2);
  if (before) path->text[path->length++] = '/';
  memcpy(path->text + path->length, name, added + 1);
  path->length += added;
  return before;
}

void cut_path(struct path *path, size_t length) {
  path->length = length;
  if (path->text) path->text[length] = '\0';
}

void die_open(const char *on) {
  if (errno == EMFILE || errno == ENFILE) die_usage("a tree is too deep to be read; it goes on below", on);
  die("open", on);
}

int open_below(int at, const char *path) {
  int directory = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char *copy = strdup(path);
  if (!copy) die("malloc", "path");
  for (char *rest = *copy ? copy : NULL, *name; directory >= 0 && (name = strsep(&rest, "/"));) {
    int next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(directory);
    directory = next;
  }
  free(copy);
  return directory;
}
