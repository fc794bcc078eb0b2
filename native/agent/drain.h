/* Reads and drops what nobody wants any more, until its last writer is gone. */
#pragma once

/* Takes both over; `path` (may be NULL) is unlinked and freed at the end. */
void drain_until_end(int fd, char *path);
