/* An agent that whoever started it does not wait for. */
#pragma once

#include "shared/error.h"

/* Continues as a process of its own, which holds nothing of its starter open. The starter ends when `detach_done` is
 * called, with 0, or when the agent ends before that, with 1. DIRECTORY is made for the agent's socket. */
int detach(const char *directory, struct error *error);
void detach_done(void);
