/* Connections that pass from one cell to another. */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/* A TCP connection of a cell to the outside; ports in network order. */
struct given {
  struct in_addr to;
  uint16_t port, to_port;
};

struct givens {
  struct given *list;
  size_t count;
};

/* close-given.c: closes these in the network that this process is in. Programs see ECONNABORTED. Packets about it must
 * not get out. 0, or an errno; nothing is closed if it is that of the first. */
int close_given(struct in_addr from, const struct givens *givens);
