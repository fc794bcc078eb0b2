/* The parts of the keeper: requests (keeper.c), the processes that it started (children.c), and workers that wait for
 * a job (workers.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/error.h"

#define MOST_CHILDREN 1024

struct request {
  uint32_t id, kind, arguments_length, input_length;
  char *arguments, *input;
};

struct output {
  int fd; /* -1 after its end */
  size_t length, room;
  char *text;
};

struct child {
  uint32_t id; /* of its request; 0 for a worker without a job */
  pid_t pid;
  int process;   /* becomes readable when it ends */
  int input;     /* of a worker or one that talks, else -1; closing it tells it that nobody needs it */
  bool answered; /* by a worker, before its end */
  bool talks;    /* it says a line, is told something, and ends: two answers */
  bool has_said; /* the line */
  bool says_too_much;
  struct output out, errors;
};

void verb_keeper(char **words);

/* children.c */
extern struct child *children[MOST_CHILDREN];
extern size_t child_count;

/* What a child does instead of the keeper's own work. */
typedef void become(const struct request *request);

/* Runs BECOME in a new process with INPUT as its stdin, which is closed here in any case. NULL with an error. */
struct child *start_child(const struct request *request, become *become, int input, struct error *error);
/* Read what has come. False if there was nothing. */
bool take_output(struct child *child);
bool take_errors(struct child *child);
void answer(const struct child *child, int32_t status);
/* What a child of the keeper does to become the program of its request. */
void become_program(const struct request *request);
/* Answers a request for which no process could be started. */
void answer_failure(const struct request *request, const struct error *error);
/* Releases a child that has ended, and answers for it unless that was done. */
void forget_child(size_t index);
void kill_child(uint32_t id);
/* The words in LENGTH bytes, each of which ends with NUL; and NULL. */
char **split_words(char *bytes, size_t length);

/* talks.c */
/* Starts a program that says a line, then waits for input. The line is the first answer, its end the second. */
void start_talk(const struct request *request);
/* Gives the program that was started with this id the input, and nothing after it. */
void continue_talk(const struct request *request);
/* The first answer, once there is a line. */
void answer_line(struct child *child);

/* workers.c */
/* Has workers started with these arguments from now on, the first of them at once. Takes the arguments over. */
void prepare_workers(struct request *request);
void give_job(const struct request *request);
void dismiss_workers(void);
/* A worker's answer is its first line: it takes longer to end, with its namespaces. */
void answer_early(struct child *child);
/* Removes a child that has ended from the waiting workers, if it is one of them. */
void forget_worker(const struct child *child);
/* Milliseconds until `take_step` is due, or -1 if it is not. */
int until_next_step(void);
/* Loads or dismisses workers. */
void take_step(void);
