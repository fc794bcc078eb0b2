/* One attack is a function that tries something and reports the result. The same functions run inside
 * an environment, where they must be refused, and in a weakened place on the host, where each must
 * succeed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum outcome {
  REFUSED,
  SUCCEEDED,
  TRIED, /* only the watcher outside can see whether it worked */
  BROKEN /* the attack itself failed, which proves nothing */
};

struct finding {
  enum outcome outcome;
  char detail[160];
  bool holds; /* what it took is kept until the watcher has looked */
};

struct attack {
  const char *name;
  struct finding (*run)(const void *with);
  const void *with;
  /* What the weakened place only pretends to do, because it is too dangerous or not in every kernel: LOOKED_AT
   * or DONE with a system call, FAMILY with a family of sockets. */
  long pretended;
};

struct subject {
  const struct attack *attacks;
  size_t count;
};

#define LOOKED_AT(call) (1L << 32 | (call)) /* the arguments were found wrong */
#define DONE(call) (2L << 32 | (call))
#define FAMILY(family) (3L << 32 | (family)) /* there is such a socket */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SUBJECT(name, array) const struct subject name = {array, COUNT(array)}

extern const struct subject canary_attacks, mask_attacks, device_attacks, mount_attacks, namespace_attacks,
    capability_attacks, call_attacks, kernel_file_attacks, process_attacks, ipc_attacks, network_attacks,
    limit_attacks, flood_attacks, nat_attacks;

struct finding refused(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct finding succeeded(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct finding tried(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct finding broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct finding holding(struct finding finding);

/* Succeeded if `result` is not negative, refused if errno says that this is forbidden or does not exist. */
struct finding judge(long result, const char *what);
/* The same for a call with arguments that fail once they are looked at: any other errno means that the
 * call was let through. */
struct finding judge_call(long result, const char *what);

/* What the watcher provides, by environment variable; ends the attack if it is missing. */
const char *given(const char *variable);
long given_number(const char *variable);
/* In the tree of this pass: the place for the attack `name`. */
const char *canary(const char *name, const char *file);
/* This run's own directory, writable by everybody. */
const char *scratch(const char *file);
bool in_weak_place(void);

bool write_text(const char *path, const char *text);
ssize_t read_text(const char *path, char *text, size_t size);
