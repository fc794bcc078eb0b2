/* `agent --relay SOCKET`: for a host that reaches the agent only through an engine's exec. */
#pragma once

#include <sys/types.h>

#include "shared/error.h"

enum relay_patience {
  RELAY_NOW,
  RELAY_WAIT, /* for an agent that has only just been started */
};

/* A connection to the Unix socket at PATH, or -1 with an error. */
int relay_connect(const char *path, enum relay_patience patience, struct error *error);

/* Joins standard input and output with the Unix socket at PATH until both directions have ended. A socket that
 * is not there yet is waited for. With LISTENER above 0, only a socket that this process listens on is used.
 * 0, or -1 with an error. */
int relay_run(const char *path, pid_t listener, struct error *error);
