/* An agent that was brought into a running container, beside the programs there. It leaves nothing behind. */
#pragma once

#include <stdint.h>

#include "shared/error.h"

/* A program that was put into a container for a moment. */
struct brought {
  const char *program;
  const char *stale; /* one that an earlier call may have left, or NULL */
  int64_t time;      /* what the directory of both had as its modification time before, in nanoseconds */
};

/* Makes the directory of the agent's socket, which must not exist. From now on SIGTERM ends everything that the agent
 * has started, removes the directory, and exits. 0, or -1 with an error. */
int guest_enter(const char *directory, struct error *error);

/* `agent --settle DIRECTORY`: waits until the agent listens there, removes the program, and prints the agent's
 * pid and the path of a program for relays.
 * 0, or -1 with an error. */
int guest_settle(const char *directory, const struct brought *brought, struct error *error);

/* `agent --leave DIRECTORY`: ends the agent that listens there, and removes what is left of it and the program. One
 * that is gone is no failure. Prints a word at the end. 0, or -1 with an error. */
int guest_leave(const char *directory, const struct brought *brought, struct error *error);

/* Removes the directory with what the agent puts there. One that is gone is no failure. 0, or -1 with an error. */
int guest_remove(const char *directory, struct error *error);
