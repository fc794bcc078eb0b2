/* Tracking of writes: which pages of a cell's processes were written since a snapshot, so that the next one dumps only
 * those. The kernel (6.7 and newer) keeps track if a process has a userfaultfd for it. That is made once inside each
 * process, and taken out at once (track.c). A small process, the holder, keeps these descriptors as long as the cell
 * lives, because every command of the host is a process of its own (holder.c). If the holder is gone, the kernel stops
 * tracking, and the next dump is complete. */
#pragma once

#include "stopped.h"

#define MOST_NAME 64 /* of a snapshot */
#define NOTES_NAME "armed"

/* What a life that is stopped continues for. */
enum purpose {
  AFTER_DUMP, /* its writes are tracked from here on */
  FOR_COPY,   /* the same, and the pages that are armed are noted in NOTES_NAME */
  FOR_ARMING, /* it can be armed while it runs, which takes long the first time (see `verb_arm`) */
};

/* track.c */
struct list {
  struct listed *all;
  size_t count;
};

struct tracker {
  int holder;
  enum purpose purpose;
  int notes;           /* gets the pages that are armed; -1: nobody wants to know */
  const char *name;    /* of the snapshot */
  const char *why_not; /* tracking is impossible; NULL if it is not */
  struct list list;    /* what the holder had */
};

/* After the dump for the snapshot NAME of a cell that is still frozen: processes that were tracked before are armed
 * again. */
struct tracker track_frozen(const char *directory, pid_t agent, const char *name, enum purpose purpose);
/* While its threads stand still, and before anything else is changed in them: the other processes are armed, too. What
 * is written before that, and after the dump, would be lost. */
void track_stopped(struct tracker *tracker, struct group *group);
/* tracked.c */
void verb_tracked(char **words);
void verb_trackable(char **words);
/* live.c */
void verb_arm(char **words);
void verb_live_copy(char **words);
/* holder.c */
void verb_hold(char **words);
