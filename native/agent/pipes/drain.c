#define _GNU_SOURCE
#include "drain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop.h"
#include "util.h"

struct drain {
  struct source source;
};

/* False at the end of the input. */
static bool drop_some(int fd) {
  static char dropped[65536];
  ssize_t got = read(fd, dropped, sizeof dropped);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static void drain_ready(struct source *source, uint32_t events) {
  struct drain *drain = container_of(source, struct drain, source);
  (void)events;
  if (drop_some(source->fd)) return;
  source_close(source);
  free(drain);
}

void drain_until_end(int fd) {
  struct drain *drain = NULL;
  if (drop_some(fd)) drain = malloc(sizeof *drain);
  if (drain) {
    source_init(&drain->source, fd, drain_ready);
    if (source_watch(&drain->source, EPOLLIN) == 0) return;
    free(drain);
  }
  close(fd);
}
