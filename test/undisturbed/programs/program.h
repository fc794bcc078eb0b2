/* What every program of the suite is made of: it makes something, says that it is ready, waits until
 * the snapshots are over, and looks whether what it sees is what it saw. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct program {
  const char *name;
  void (*run)(void);
};

/* One array per file, ended by an empty entry; main.c lists them. */
extern const struct program identity_programs[], held_file_programs[], lock_programs[], watch_programs[];
extern const struct program timed_wait_programs[], endless_wait_programs[], timer_programs[];
extern const struct program whole_call_programs[];
extern const struct program event_programs[], in_flight_programs[], unix_programs[], tcp_programs[], tcp_state_programs[], udp_programs[];
extern const struct program attribute_programs[], credential_programs[], child_programs[], own_view_programs[];
extern const struct program protection_programs[];
extern const struct program memory_programs[], cpu_programs[], ipc_programs[], terminal_programs[], signal_programs[];

/* Says that everything is made. */
void ready(void);
/* Waits in read(2) until the snapshots are over. */
void until_over(void);
/* Whether they are over. */
bool is_over(void);
/* Both. */
void hold(void);

/* Says what was noticed; the program continues with its other checks. */
void notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether anything was noticed so far. */
bool has_noticed(void);

/* The value, or the end of the program: it could not make what it wanted to watch. */
#define MUST(expression)                                              \
  ({                                                                  \
    __typeof__(expression) result_ = (expression);                    \
    if ((long)result_ == -1) cannot(__FILE__, __LINE__, #expression); \
    result_;                                                          \
  })
_Noreturn void cannot(const char *file, int line, const char *what);

/* Notices when the condition does not hold. */
#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) notice("%s:%d: not so: %s", __FILE__, __LINE__, #condition); \
  } while (0)

/* Notices a number, or a text, that is another one. */
void same(const char *what, long before, long after);
void same_text(const char *what, const char *before, const char *after);
/* The same line by line; both texts are used up. */
void same_lines(const char *what, char *before, char *after);
/* Whether this is a copy of the process that began: it may have other numbers, and its timers stood still in the stop. */
bool is_copy(void);

/* Seconds of CLOCK_MONOTONIC. */
double now(void);
/* Seconds that the whole environment has stood still so far, or had no processor, by the watch of launch.c. */
double stood_still(void);
/* How late something is, beside the time in which everything stood still since `stops`. */
double late_by(double late, double stops);
/* Sleeps on whatever wakes it. */
void rest(double seconds);
/* The contents of a file, for the caller to free; "" if there is none. */
char *slurp(const char *path);
/* The line of `text` that begins with `key`, for the caller to free. */
char *line_of(const char *text, const char *key);
/* Takes the flags of write tracking out of a text of /proc/self/smaps: that programs can see them has a program of
 * its own. */
char *without_tracking(char *text);
void write_file(const char *path, const char *text);
/* A child process that runs `work` and then exits with its result. It ends with the program. */
pid_t start(int (*work)(void));
/* How a child ended: its exit code, or 1000 and its signal. */
int end_of(pid_t pid);
