/* Who may connect to the agent. */
#pragma once

#include <stdbool.h>

enum clients {
  CLIENTS_OUTSIDE, /* processes of another pid namespace, over a shared directory */
  CLIENTS_RELAYS,  /* and processes that an engine started inside from the outside, such as `agent --relay` */
};

/* Whether the process at the other end of FD is one of these. An agent that was started by hand is not PID 1, and
 * serves everybody unless it is for relays. */
bool peer_is_host(int fd, enum clients clients);
