/* The entries at given paths as the layers together show them, alone or with everything below. */
#define _GNU_SOURCE
#include <string.h>

#include "view.h"

void lookup(char **layers, size_t count) {
  struct walk *walk = walk_layers(layers, count);
  for (char *path; (path = next_path());) {
    struct found found;
    if (resolve(walk, path, &found))
      print_entry(found.in.layer, found.in.fd, found.name, &found.stat, false, path);
    else
      print_missing(path);
  }
}

static void list_below(struct path *path, const struct found *found);

static void list_entry(const struct found *found, void *with) {
  struct path *path = with;
  size_t length = append_name(path, found->name);
  print_entry(found->in.layer, found->in.fd, found->name, &found->stat, false, path->text);
  list_below(path, found);
  cut_path(path, length);
}

static void list_below(struct path *path, const struct found *found) {
  if (!S_ISDIR(found->stat.stx_mode)) return;
  struct merged *below = descend(found->parent, found->name);
  if (below) each_name(below, list_entry, path);
  release(below);
}

void list(char **layers, size_t count) {
  struct path below = {0};
  struct walk *walk = walk_layers(layers, count);
  for (char *path; (path = next_path());) {
    struct found found;
    if (!resolve(walk, path, &found)) continue;
    if (*path) print_entry(found.in.layer, found.in.fd, found.name, &found.stat, false, path);
    set_path(&below, path);
    list_below(&below, &found);
  }
}
