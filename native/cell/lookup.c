/* What paths are, as the layers together show them; alone, or with all below them. */
#define _GNU_SOURCE
#include "view.h"

#include <limits.h>
#include <string.h>

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

struct listing {
  char path[PATH_MAX];
  size_t length;
};

static void list_below(struct listing *listing, const struct found *found);

static void list_entry(const struct found *found, void *with) {
  struct listing *listing = with;
  size_t length = listing->length, room = sizeof listing->path - length;
  int added = snprintf(listing->path + length, room, "%s%s", length ? "/" : "", found->name);
  if ((size_t)added >= room) die_usage("a path is longer than the kernel takes", listing->path);
  print_entry(found->in.layer, found->in.fd, found->name, &found->stat, false, listing->path);
  listing->length += (size_t)added;
  list_below(listing, found);
  listing->length = length;
}

static void list_below(struct listing *listing, const struct found *found) {
  if (!S_ISDIR(found->stat.stx_mode)) return;
  struct merged *below = descend(found->parent, found->name);
  if (below) each_name(below, list_entry, listing);
  release(below);
}

void list(char **layers, size_t count) {
  static struct listing listing;
  struct walk *walk = walk_layers(layers, count);
  for (char *path; (path = next_path());) {
    struct found found;
    if (!resolve(walk, path, &found)) continue;
    if (*path) print_entry(found.in.layer, found.in.fd, found.name, &found.stat, false, path);
    listing.length = strlen(path);
    memcpy(listing.path, path, listing.length + 1);
    list_below(&listing, &found);
  }
}
