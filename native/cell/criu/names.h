/* Names that a sandbox chose, looked up in the root that it will be restored on. */
#pragma once

#include <stddef.h>

/* Fails unless the places that we mount on are directories, and not reached through links. */
void require_mountpoints(void);
/* Fails if CRIU would leave the root when it opens one of these NUL-terminated names. */
void check_names(const char *names, size_t length);
