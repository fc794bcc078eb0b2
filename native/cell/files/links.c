/* Files with several names, found again by layer and inode number. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "view.h"

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

char *first_place(void *const *links, const struct found *found) {
  struct link key = {.layer = found->in.layer, .inode = found->stat.stx_ino};
  struct link **known = tfind(&key, links, by_file);
  return known ? (*known)->place : NULL;
}

bool link_to_first(void *const *links, const struct found *found, int root, int in, const char *name) {
  char *place = first_place(links, found);
  if (!place) return false;
  char *slash = strrchr(place, '/');
  if (slash) *slash = '\0';
  int directory = slash ? open_below(root, place) : root;
  if (directory < 0) die("openat '%s'", place);
  bool made = !linkat(directory, slash ? slash + 1 : place, in, name, 0);
  if (!made && errno != EMLINK && errno != EPERM) die("linkat '%s'", name);
  if (slash) {
    *slash = '/';
    close(directory);
  }
  return made; /* if not, the caller makes another copy */
}

void remember_place(void **links, const struct found *found, const char *place) {
  struct link *link = require_memory(malloc(sizeof *link));
  *link = (struct link){found->in.layer, found->stat.stx_ino, require_memory(strdup(place))};
  struct link **known = require_memory(tsearch(link, links, by_file));
  if (*known != link) { /* the first copy can have no more links: further names become links of this one */
    free((*known)->place);
    **known = *link;
    free(link);
  }
}
