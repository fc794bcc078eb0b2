/* Reads and drops what nobody wants any more, until its last writer is gone. */
#pragma once

/* Takes it over. */
void drain_until_end(int fd);
