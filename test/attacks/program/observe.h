#pragma once

#include <sys/types.h>

void observe_victim(pid_t pid);
/* Remembers what the tree of a pass is like. */
void observe_tree(const char *directory, const char *pass);
/* Remembers the counters that all passes share. */
void begin_observation(void);
