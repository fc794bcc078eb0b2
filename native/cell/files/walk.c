/* Resolves one path after another. The directories of the last path stay open, so that sorted paths take about one step
 * each. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "view.h"

#define LONGEST ((ssize_t)DEEPEST * (NAME_MAX + 1))

struct level {
  char *name;
  struct merged *directory; /* NULL if it is not a directory, and then it is the last level */
};

struct walk {
  struct merged *root;
  size_t depth;
  struct level levels[DEEPEST]; /* only what is used takes memory */
};

struct walk *walk_layers(char **layers, size_t count) {
  struct walk *walk = require_memory(calloc(1, sizeof *walk));
  walk->root = merge_layers(layers, count);
  return walk;
}

static void leave(struct walk *walk, size_t depth) {
  while (walk->depth > depth) {
    struct level *level = &walk->levels[--walk->depth];
    release(level->directory);
    free(level->name);
  }
}

static const struct merged *directory_at(const struct walk *walk, size_t depth) {
  return depth ? walk->levels[depth - 1].directory : walk->root;
}

/* Makes NAME the level DEPTH, unless it is already. False if it is not a directory. */
static bool enter(struct walk *walk, size_t depth, const char *name) {
  if (depth == DEEPEST) die_because(TOO_DEEP, name);
  if (walk->depth > depth && !strcmp(walk->levels[depth].name, name)) return walk->levels[depth].directory != NULL;
  leave(walk, depth);
  struct level *level = &walk->levels[walk->depth++];
  level->name = require_memory(strdup(name));
  level->directory = descend(directory_at(walk, depth), name);
  return level->directory != NULL;
}

static void require_plain(const char *component) {
  if (!*component || !strcmp(component, ".") || !strcmp(component, ".."))
    die_because("'%s' cannot be part of a path", component);
}

/* The directory that PATH is in, or NULL. The rest of PATH is its name there. */
static const struct merged *parent_of(struct walk *walk, char *path, const char **name) {
  size_t depth = 0;
  char *component = path;
  for (char *slash; (slash = strchr(component, '/')); component = slash + 1, depth++) {
    *slash = '\0';
    require_plain(component);
    bool entered = enter(walk, depth, component);
    *slash = '/';
    if (!entered) return NULL;
  }
  if (depth || *component) require_plain(component);
  *name = *component ? component : ".";
  return directory_at(walk, depth);
}

bool resolve(struct walk *walk, char *path, struct found *found) {
  const char *name;
  const struct merged *parent = parent_of(walk, path, &name);
  return parent && find_name(parent, name, found);
}

bool resolve_raw(struct walk *walk, char *path, struct found *found) {
  const struct merged *parent = parent_of(walk, path, &found->name);
  if (!parent) return false;
  found->parent = parent;
  found->in = parent->parts[0];
  return stat_name(found->in.fd, found->name, &found->stat);
}

char *next_path(void) {
  static char *line;
  static size_t capacity;
  ssize_t length = getdelim(&line, &capacity, '\0', stdin);
  if (length < 0) {
    if (ferror(stdin)) die("read stdin");
    return NULL;
  }
  if (line[length - 1] != '\0') die_because("path '%s' on stdin does not end with NUL", line);
  if (length > LONGEST) die_because("a path on stdin has %zd bytes, which is too long", length);
  return line;
}
