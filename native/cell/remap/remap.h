/* Remapping: right after a dump, memory of the processes is replaced by private mappings of the file that the dump has
 * just written. Nothing in it changes. But from then on the kernel knows which pages were written, because only those
 * are no longer pages of the file, and the next dump has only those. Copies of the processes map the same file, and
 * share its pages with the original.
 *
 * The engine writes down what to map, in the file `remap.plan` in the directory of the life. If anything fails, what is
 * not mapped stays as it was, and the next dump is larger. The file `remapped` there then says why. */
#pragma once

#include <stdio.h>

#include "stopped.h"

#define MOST_FILE_NAME 128
#define PAGE_BYTES 4096

/* plan.c: addresses of a process that a pages file has the content of. */
struct run {
  pid_t pid; /* on the host */
  uint64_t start, end, offset;
  int protection, flags;     /* as for mmap */
  uint64_t advice;           /* a bit for each number that madvise got */
  char name[MOST_FILE_NAME]; /* of the file */
};

struct plan {
  struct run *runs; /* those of a process follow each other */
  size_t count;
};

int read_plan(const char *directory, struct plan *plan, struct error *error);

/* A process that is worked on. */
struct inside {
  struct group *group;
  const struct process *process;
  const struct thread *thread; /* makes the calls */
  uint64_t scratch;            /* a page for what calls read and write */
  int file;                    /* number of the descriptor inside */
};

/* inside.c */
/* Has the process make a call. -1 with an error if the kernel refuses it, too. WHAT is for that error. */
int call_inside(const struct inside *inside, const char *what, long number, const uint64_t arguments[6], long *result,
                struct error *error);
/* Gives the process a page and the file FD, which it does not see: it stands still until `leave`. */
int enter(struct inside *inside, int fd, struct error *error);
void leave(const struct inside *inside);

/* spots.c: pages that have changed since the dump, or will, before their process runs. */
struct spots {
  uint64_t *pages; /* in order */
  size_t count;
};

int find_spots(const struct inside *inside, struct spots *spots, struct error *error);
/* The first part of [*START, END) without a spot. False if there is none. *NEXT is where to look for another. */
bool next_clear(const struct spots *spots, uint64_t *start, uint64_t end, uint64_t *stop, uint64_t *next);

/* map.c */
#define KEPT_OPEN 1000

/* How the memory that a mapping replaces is freed. It takes long: measured, 40 ms for 512 MB. */
enum freeing { FREE_AT_ONCE, FREE_LATER };

/* A part of the address space with memory that nothing uses any more. */
struct park {
  pid_t pid;
  int areas; /* /proc/PID/maps: of this memory, whatever the process becomes. Its number is KEPT_OPEN or more. */
  uint64_t start, end;
};

struct parks {
  struct park *list;
  size_t count;
};

/* Maps the runs of one process. The park is empty if nothing is left to free. */
int map_runs(const struct inside *inside, const struct run *runs, size_t count, enum freeing freeing, struct park *park,
             struct error *error);

/* remap.c */
/* While the threads of the cell stand still, and before anything is changed in them. AGENT is the pid of a process that
 * sees the mount of the pages files. */
struct parks remap_stopped(struct group *group, pid_t agent, const char *directory, enum freeing freeing);

/* unpark.c */
/* Once the cell runs: frees them a bit at a time, in a process of its own. */
void free_parks(struct parks *parks, const char *cgroup);
/* Waits until nothing of this cell is being freed: its threads could not be stopped. */
void await_unparked(const char *cgroup);
