/* Resolves one path after another. The directories that the last path went through
 * stay open, so that sorted paths cost one step each. */
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST ((ssize_t)DEEPEST * (NAME_MAX + 1))

struct level {
  char *name;
  struct merged *directory; /* NULL: no directory of this name; the levels end here */
};

struct walk {
  struct merged *root;
  size_t depth;
  struct level levels[DEEPEST]; /* takes memory as far as it is used */
};

struct walk *walk_layers(char **layers, size_t count) {
  struct walk *walk = calloc(1, sizeof *walk);
  if (!walk) die("malloc", "walk");
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

/* Goes into `name` as the level `depth`, or stays there if it is already. */
static bool enter(struct walk *walk, size_t depth, const char *name) {
  if (depth == DEEPEST) die_usage("a path is too deep", name);
  if (walk->depth > depth && !strcmp(walk->levels[depth].name, name))
    return walk->levels[depth].directory != NULL;
  leave(walk, depth);
  struct level *level = &walk->levels[walk->depth++];
  level->name = strdup(name);
  if (!level->name) die("malloc", "name");
  level->directory = descend(directory_at(walk, depth), name);
  return level->directory != NULL;
}

static void require_plain(const char *component) {
  if (!*component || !strcmp(component, ".") || !strcmp(component, ".."))
    die_usage("a path has an empty, . or .. component", component);
}

bool resolve(struct walk *walk, char *path, struct found *found) {
  size_t depth = 0;
  char *component = path;
  for (char *slash; (slash = strchr(component, '/')); component = slash + 1, depth++) {
    *slash = '\0';
    require_plain(component);
    bool entered = enter(walk, depth, component);
    *slash = '/';
    if (!entered) return false;
  }
  if (depth || *component) require_plain(component);
  return find_name(directory_at(walk, depth), *component ? component : ".", found);
}

char *next_path(void) {
  static char *line;
  static size_t capacity;
  ssize_t length = getdelim(&line, &capacity, '\0', stdin);
  if (length < 0) {
    if (ferror(stdin)) die("read", "stdin");
    return NULL;
  }
  if (line[length - 1] != '\0') die_usage("a path on stdin does not end with NUL", line);
  if (length > LONGEST) die_usage("a path on stdin is too long", "the deepest tree has shorter ones");
  return line;
}
