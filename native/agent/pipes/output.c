#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "drain.h"
#include "util.h"

/* The most that is read at once: the default capacity of a pipe. */
#define SLICE 65536

static size_t bytes_waiting(const struct output *output) {
  int waiting = 0;
  return ioctl(output->source.fd, FIONREAD, &waiting) < 0 ? 0 : waiting;
}

/* Reads one slice. False if there is nothing to read or no space for it. */
static bool read_slice(struct output *output) {
  struct iovec space[2];
  size_t wanted = min_size(bytes_waiting(output), SLICE);
  if (output->ended)
    wanted = min_size(wanted, output->owed);
  else if (!wanted)
    wanted = 1; /* to find out whether this is the end */
  if (output->forgets) output->ring.keep_from = output->ring.end;
  size_t room = wanted ? ring_space(&output->ring, wanted, space) : 0;
  output->full = wanted && !room;
  if (!room) return false;
  ssize_t got = readv(output->source.fd, space, space[1].iov_len ? 2 : 1);
  if (got > 0) {
    ring_added(&output->ring, got);
    if (output->ended) output->owed -= got;
    return true;
  }
  if (got == 0) {
    /* All writers are gone, which epoll would report forever. */
    source_watch(&output->source, 0);
    output->owed = 0;
  }
  return false;
}

static void output_ready(struct source *source, uint32_t events) {
  struct output *output = container_of(source, struct output, source);
  (void)events;
  bool got = read_slice(output);
  if (output->full) source_watch(source, 0);
  if (got) output->changed(output);
}

void output_init(struct output *output, void (*changed)(struct output *)) {
  source_init(&output->source, -1, output_ready);
  output->changed = changed;
}

int output_open(struct output *output, int fd) {
  output->source.fd = fd;
  return source_watch(&output->source, EPOLLIN);
}

static void read_owed(struct output *output) {
  while (output->owed && read_slice(output)) continue;
  if (output->owed && !output->full) output->owed = 0;
  output->changed(output);
}

void output_end(struct output *output) {
  source_watch(&output->source, 0);
  output->ended = true;
  output->owed = output->source.fd < 0 ? 0 : bytes_waiting(output);
  read_owed(output);
}

bool output_complete(const struct output *output) { return output->ended && !output->owed; }

void output_resume(struct output *output) {
  if (!output->full) return;
  output->full = false;
  if (output->ended)
    read_owed(output);
  else
    source_watch(&output->source, EPOLLIN);
}

void output_set_forgets(struct output *output, bool forgets) {
  output->forgets = forgets;
  if (forgets) output_resume(output);
}

void output_release(struct output *output) {
  if (output->source.fd < 0) return;
  source_watch(&output->source, 0);
  drain_until_end(take_fd(&output->source.fd));
}

void output_free(struct output *output) {
  output_release(output);
  ring_free(&output->ring);
}
