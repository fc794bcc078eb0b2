/* What CRIU does not keep of processes and their sockets. `cell waits` notes it beside the dump, in lines of
 *
 *   WORD PROCESS NUMBER VALUE…
 *
 * with numbers as inside; the second is that of a thread or of a descriptor. Only what differs from a new process or
 * socket is noted, so that most cells have no such lines. A copy gets it back before it runs. Each line comes from what
 * programs inside do, or from a snapshot that was made elsewhere: the words, numbers and lengths are checked. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "stopped.h"

#define MOST_CPU_BYTES 1024
#define MOST_VALUE 64 /* bytes of an option */

/* Of this process, and so of the processes that CRIU restores, which come from the same parent. */
struct defaults {
  uint8_t cpus[MOST_CPU_BYTES];
  size_t cpu_bytes;
  unsigned long slack, core_filter, personality;
};

struct attribute {
  const struct attribute_kind *kind;
  int process, number;
  char *value;
};

struct attributes {
  struct attribute *list;
  size_t count;
  bool needs_stop; /* some can be put back only by the threads themselves */
  bool has_connections;
};

/* Where to put an attribute back: numbers of the host, but the descriptor is that of the process. */
struct target {
  pid_t process, thread;
  int descriptor;
  const char *images;            /* directory of CRIU's */
  struct group *group;           /* only for what the thread has to do itself */
  const struct thread *in_group; /* the same */
};

struct attribute_kind {
  const char *word;
  /* CONNECTION: a descriptor, once all sockets have their options. INSIDE: a stopped thread */
  enum { THREAD, DESCRIPTOR, CONNECTION, INSIDE } needs;
  bool is_needed; /* without it, there is no copy */
  /* 0, or an errno. EINVAL: the value is malformed. */
  int (*put)(const struct target *target, const char *value);
};

/* tasks.c */
struct defaults take_defaults(void);
void note_thread(FILE *to, const struct defaults *defaults, pid_t process, pid_t thread);
int put_affinity(const struct target *target, const char *value);
int put_io_priority(const struct target *target, const char *value);
int put_timer_slack(const struct target *target, const char *value);
int put_core_filter(const struct target *target, const char *value);

/* inside.c: what only the thread itself can change */
/* Has the thread make a call: 0, or an errno. */
int make_inside(const struct target *target, long number, const uint64_t arguments[6]);
int ask_inside(const struct target *target, long number, const uint64_t arguments[6], long *result);
/* Puts an argument of such a call below the thread's stack, until its next call. */
int place_inside(const struct target *target, const void *bytes, size_t size, uint64_t *at);
int put_personality(const struct target *target, const char *value);
int put_machine_checks(const struct target *target, const char *value);
int put_denial(const struct target *target, const char *value);
int put_lock(const struct target *target, const char *value);
int put_seal(const struct target *target, const char *value);

/* future.c */
void note_future(FILE *to, pid_t process, int inside);
int put_future(const struct target *target, const char *value);

/* stops.c */
struct status;
/* If the process is stopped, and its parent has not asked for that yet. It means nothing for one that is not stopped.
 */
void note_unasked_stop(FILE *to, pid_t process, const struct status *inside);
int put_told_stop(const struct target *target, const char *value);

/* overflow.c */
bool can_overflow(void);
int put_overflow(const struct target *target, const char *value);

/* undo.c */
/* From within the cell's namespace of System V objects. */
void note_undo(FILE *to, const char *cgroup);
int put_undo(const struct target *target, const char *value);

/* note.c */
/* All of a frozen cell, while CRIU dumps it. */
struct notes *note_attributes(const struct defaults *defaults, const char *cgroup);
/* What can be read only once CRIU is done, while the cell is still frozen. */
void finish_attributes(struct notes *notes);
void print_attributes(const struct notes *notes);

/* hex.c */
void print_hex(FILE *to, const void *bytes, size_t length);
/* The number of bytes, or -1 if it is no hexadecimal text of up to SIZE bytes. Stops at a space. */
ssize_t parse_hex(const char *text, void *bytes, size_t size);
bool parse_number(const char *text, unsigned long most, unsigned long *number);

/* copy.c */
void read_attributes(struct attributes *attributes, const char *path);
/* While CRIU still holds the processes of CGROUP. */
void put_attributes_back(const struct attributes *attributes, const char *cgroup, const char *images);
/* What the threads themselves have to do. */
void put_back_inside(const struct attributes *attributes, struct group *group);
