/* One kernel object each: made once, and found as it was at any time later. Checks take nothing
 * away: they peek, or put back what they took. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct object {
  const char *name;
  void (*make)(void);
  /* true if it is as it was made */
  bool (*holds)(void);
};

extern const struct object memory_objects[], ipc_objects[], file_objects[], lock_objects[];
extern const struct object pipe_objects[], socket_objects[], timer_objects[], process_objects[];

/* The value, or the end of the program, with the line that called. */
#define MUST(expression)                                                                           \
  ({                                                                                               \
    __typeof__(expression) result_ = (expression);                                                 \
    if ((long)result_ == -1) fail(__FILE__, __LINE__, #expression);                                \
    result_;                                                                                       \
  })
_Noreturn void fail(const char *file, int line, const char *what);

/* Words that the user gave, each kept in several places; see marks.c. */
void mark(const char *word);
/* Prints them, or that the places disagree. */
void print_marks(void);
void make_mark_places(void);

/* Waits up to 5 s until the counter has grown. */
bool grows(const volatile long *counter);
/* Runs the check in a child process: whether it returned true there. */
bool in_child(bool (*check)(void));
