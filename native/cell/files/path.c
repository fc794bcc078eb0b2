/* A path that grows and shrinks by a component as a walk goes down and up. It may be longer than the kernel allows,
 * because it is only ever printed, compared or taken apart. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "view.h"

static void make_room(struct path *path, size_t length) {
  if (length < path->capacity) return;
  path->capacity = 2 * length + 256;
  path->text = require_memory(realloc(path->text, path->capacity));
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
  if (errno == EMFILE || errno == ENFILE) die_because(TOO_DEEP, on);
  die("open '%s'", on);
}

int open_below(int at, const char *path) {
  int directory = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  autofree char *copy = require_memory(strdup(path));
  for (char *rest = *copy ? copy : NULL, *name; directory >= 0 && (name = strsep(&rest, "/"));) {
    int next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(directory);
    directory = next;
  }
  return directory;
}
