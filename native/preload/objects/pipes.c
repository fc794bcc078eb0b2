/* Pipes that CRIU refuses: those that keep packets apart, and all beyond the 1,024th, because it has no room for more
 * in a list of those whose contents it has dumped. `cell waits` notes what is in them (see cell/queues/pipes.c).
 * CRIU does not see that they keep packets apart, and takes the ends to read of too many pipes for ends to write. They
 * bear a mark, which src/criu/images/noted/pipes.ts removes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>

#include "objects.h"

#define MOST 1000       /* see cell/queues/pipes.c */
#define MARK 0x20000000 /* no flag of a pipe */

static unsigned long dumped[MOST];
static size_t count;
static bool is_noted;

static bool is_dumped(unsigned long inode) {
  for (size_t i = 0; i < count; i++)
    if (dumped[i] == inode) return true;
  if (count == MOST) return false;
  dumped[count++] = inode;
  return true;
}

unsigned long shown_flags_of_pipe(unsigned long inode, unsigned long flags) {
  if (flags & O_DIRECT && note_hidden()) flags &= ~(unsigned long)O_DIRECT;
  if ((flags & O_ACCMODE) == O_WRONLY || is_dumped(inode)) return flags;
  if (!is_noted && (!note_hidden() || !note("pipes"))) return flags; /* and so CRIU refuses */
  is_noted = true;
  return flags | O_WRONLY | MARK;
}
