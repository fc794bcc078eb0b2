/* One output of a command: a pipe that is read into a ring, with back-pressure. */
#pragma once

#include <stdbool.h>

#include "loop.h"
#include "ring.h"

struct output {
  struct source source;
  struct ring ring;
  bool full;                              /* reading waits until the host has consumed more */
  bool forgets;                           /* old bytes go when space is needed, because nobody reads them */
  bool ended;                             /* the command has ended: only what is owed is read */
  uint64_t owed;                          /* bytes that were in the pipe when the command ended */
  void (*changed)(struct output *output); /* bytes have come, or nothing is owed any more */
};

void output_init(struct output *output, void (*changed)(struct output *));

/* Takes FD over. 0, or -1 with errno. */
int output_open(struct output *output, int fd);

/* The command has ended. What is in the pipe now is its output. A background job may keep writing, but that is not the
 * command's output any more. */
void output_end(struct output *output);

/* Whether the command has ended and all its output is in the ring. */
bool output_complete(const struct output *output);

/* Whether it keeps only the last bytes, and never waits for a reader. */
void output_set_forgets(struct output *output, bool forgets);

/* Continues to read after space in the ring was freed. */
void output_resume(struct output *output);

/* Closes the pipe if it has no writers, and otherwise leaves it to a drain: closing it early would kill a background
 * job with SIGPIPE. */
void output_release(struct output *output);
void output_free(struct output *output);
