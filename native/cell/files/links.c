/* Files that have several names, by layer and inode number. */
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct link {
  int layer;
  uint64_t inode;
  char *place;
};

static int by_file(const void *left, const void *right) {
  const struct link *a = left, *b = right;
  if (a->layer != b->layer) return a->layer < b->layer ? -1 : 1;
  return (a->inode > b->inode) - (a->inode < b->inode);
}

bool link_to_first(void *const *links, const struct found *found, int root, int in, const char *name) {
  struct link key = {.layer = found->in.layer, .inode = found->stat.stx_ino};
  struct link **known = tfind(&key, links, by_file);
  if (!known) return false;
  char *place = (*known)->place, *slash = strrchr(place, '/');
  if (slash) *slash = '\0';
  int directory = slash ? open_below(root, place) : root;
  if (directory < 0) die("open", place);
  bool made = !linkat(directory, slash ? slash + 1 : place, in, name, 0);
  if (!made && errno != EMLINK && errno != EPERM) die("link", name);
  if (slash) {
    *slash = '/';
    close(directory);
  }
  return made; /* else a copy of its own will do */
}

void remember_place(void **links, const struct found *found, const char *place) {
  struct link *link = malloc(sizeof *link);
  if (!link) die("malloc", "link");
  *link = (struct link){found->in.layer, found->stat.stx_ino, strdup(place)};
  struct link **known = link->place ? tsearch(link, links, by_file) : NULL;
  if (!known) die("malloc", "link");
  if (*known != link) { /* it has reached its most links: what follows goes on from this copy */
    free((*known)->place);
    **known = *link;
    free(link);
  }
}
