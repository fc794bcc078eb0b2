/* Reads and drops output that nobody wants any more, until its last writer is gone. */
#pragma once

/* Takes the descriptor over. */
void drain_until_end(int fd);
