/* Calls in which threads wait while their cell is frozen and dumped. The freezer and CRIU end some of them with EINTR,
 * although nobody sent a signal. They are made again, with the time that was left. Others are cut short: they return
 * how much they had written or received until then. For those, the rest is made, and the sum returned. */
#pragma once

#include "registers.h"
#include "stopped.h"

/* What a call waits for, apart from its event. */
enum limit {
  NO_LIMIT,     /* or a moment, which stays the same */
  MILLISECONDS, /* an argument: how long */
  SPAN,         /* an argument: where to find how long */
  SPAN_LEFT,    /* the same, and the kernel has put there how long is left */
  TIME_LEFT,    /* the same in microseconds, as a timeval */
  RECEIVING,    /* SO_RCVTIMEO of the socket */
  SENDING,      /* SO_SNDTIMEO */
};

enum end {
  KEPT,       /* nobody ends it, or it cannot be made again */
  ENDED,      /* with EINTR */
  NO_HANDLER, /* the kernel makes it again, unless the program handles a signal */
  RESTARTED,  /* the same, unless the handler asks for a restart */
};

struct call {
  enum end end;
  enum limit limit;
  int argument; /* that has the limit */
  int rest;     /* argument that says where the kernel has put the time that is left, or -1 */
};

#define ARGUMENTS 6

/* What the kernel tells about a thread. */
struct status {
  int process, thread; /* their numbers inside */
  uint64_t sleeps;     /* how often it went to sleep; unlike how often it ran, this does not depend on other threads */
};

/* A thread that waits. */
struct wait {
  pid_t thread; /* its number on the host */
  long number;  /* of the call; -1: it is in none */
  uint64_t arguments[ARGUMENTS], stack, instruction;
  struct call call;
  uint64_t asleep; /* when it fell asleep, by the monotonic clock; 0: not known */
  struct status status;
  int64_t left;      /* nanoseconds, when it was frozen; -1: no limit */
  bool is_restarted; /* the kernel continues it after a stop */
  bool is_in_code;   /* the thread is in code of ours, which a copy of the cell does not have */
};

struct waits {
  struct wait *list; /* by thread */
  size_t count;
  uint64_t frozen; /* when */
};

/* calls.c */
/* What the kernel does with this call, judging by its number and arguments. */
struct call call_of(long number, const uint64_t arguments[ARGUMENTS]);

/* restarted.c */
/* Whether this is the number of a call that the kernel continues. */
bool is_restarted(long number);
/* The number of the call that the program had made. */
long made_call(pid_t process, pid_t thread, const uint64_t arguments[ARGUMENTS]);

/* look.c */
/* Before the freeze: when threads fell asleep. Once they are frozen the kernel no longer knows. */
void look_before(struct waits *waits, const char *cgroup);
/* As soon as possible after the freeze: which calls have been interrupted. */
void look_after(struct waits *waits, const struct waits *before, const char *cgroup);
/* The same for one process that is not frozen, before and after a thread of it is stopped. */
void look_before_process(struct waits *waits, pid_t process);
void look_after_process(struct waits *waits, const struct waits *before, pid_t process);
void add_wait(struct waits *waits, const struct wait *wait);
/* Before `find_wait`, after the last `add_wait`. */
void sort_waits(struct waits *waits);
const struct wait *find_wait(const struct waits *waits, pid_t thread);
/* Whether a thread that was asleep BEFORE has only been stopped since. */
bool has_slept_on(const struct wait *before, const struct wait *after);
uint64_t monotonic_now(void);

/* late.c */
/* What a stopped thread was interrupted in that `look_after` could not see. Left is what is left now. False: nothing.
 */
bool find_late(pid_t process, pid_t thread, const struct waits *before, struct wait *wait);

/* sleep.c */
/* When a thread last ran, by the monotonic clock. 0: the kernel does not tell. */
uint64_t last_ran(pid_t process, pid_t thread);

/* status.c */
bool read_status(pid_t process, pid_t thread, struct status *status);

/* limits.c */
/* How long the thread may still wait, in nanoseconds. -1: without end, or it is not known. */
int64_t left_of(pid_t process, const struct wait *wait, uint64_t frozen);
/* Whether to find out since when the thread waits. */
bool depends_on_start(pid_t process, const struct wait *wait);
/* Takes PASSED from the time that the kernel has left in memory. */
void shorten_left(pid_t process, const struct wait *wait, uint64_t passed);

/* What NUMBER is in that process, for the caller to close. -1 if that is nothing. */
int borrow_descriptor(pid_t process, int number);

/* again.c */
/* Has a stopped thread make the call again that was ended. PASSED are nanoseconds since the freeze. */
void put_right(struct group *group, const struct thread *thread, const struct wait *wait, uint64_t passed);
/* Address of the code in PROCESS, of which this thread is stopped. */
int require_code(struct process *process, pid_t thread, uint64_t *code, struct error *error);
#if defined(__x86_64__)
void read_arguments(const registers *regs, uint64_t arguments[ARGUMENTS]);
#endif
/* The thread is to make its next call in CODE. */
void run_code(registers *regs, uint64_t code, long number, uint64_t stack);

/* rest.c */
/* Has a stopped thread make the rest of a call that was cut short. False if it was not, or if that is impossible: then
 * the thread is as before. */
bool continue_rest(struct process *process, pid_t thread, const registers *regs, const struct wait *wait);

/* Reads the lines that `cell waits` printed about the cell that this one is a copy of. */
void read_waits(struct waits *waits, const char *path);
/* Puts the waits and other attributes of a copy right, which is frozen and has not run yet, and thaws it unless it is
 * to stay frozen. */
struct attributes;
void continue_copy(const struct waits *waits, const struct attributes *attributes, const char *cgroup, bool holds);

void verb_waits(char **words);
