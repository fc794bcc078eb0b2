#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAY(kind)                                                     \
  struct finding finding = {.outcome = (kind)};                       \
  va_list words;                                                      \
  va_start(words, format);                                            \
  vsnprintf(finding.detail, sizeof finding.detail, format, words);    \
  va_end(words);                                                      \
  return finding

struct finding refused(const char *format, ...) { SAY(REFUSED); }
struct finding succeeded(const char *format, ...) { SAY(SUCCEEDED); }
struct finding tried(const char *format, ...) { SAY(TRIED); }
struct finding broken(const char *format, ...) { SAY(BROKEN); }

struct finding holding(struct finding finding) {
  finding.holds = true;
  return finding;
}

static bool is_one_of(int error, const int *errors) {
  for (; *errors; errors++)
    if (*errors == error) return true;
  return false;
}

struct finding judge(long result, const char *what) {
  static const int refusals[] = {EPERM,        EACCES,       EROFS,  ENOENT, ESRCH,      ENOSYS,      ENXIO,     ENODEV,
                                 EAFNOSUPPORT, EINVAL,       EXDEV,  EBUSY,  EOPNOTSUPP, ENETUNREACH, ENOTEMPTY, ECONNREFUSED,
                                 EPROTONOSUPPORT, EADDRNOTAVAIL, EHOSTUNREACH, ETIMEDOUT, EINPROGRESS, EAGAIN, 0};
  if (result >= 0) return succeeded("%s: done", what);
  if (is_one_of(errno, refusals)) return refused("%s: %s", what, strerrorname_np(errno));
  return broken("%s: %s", what, strerrorname_np(errno));
}

struct finding judge_call(long result, const char *what) {
  static const int refusals[] = {EPERM, ENOSYS, EACCES, 0};
  if (result < 0 && is_one_of(errno, refusals)) return refused("%s: %s", what, strerrorname_np(errno));
  return succeeded("%s was let through: %s", what, result < 0 ? strerrorname_np(errno) : "done");
}

const char *given(const char *variable) {
  const char *value = getenv(variable);
  if (!value) {
    fprintf(stderr, "no %s\n", variable);
    exit(4);
  }
  return value;
}

long given_number(const char *variable) { return atol(given(variable)); }

static const char *below(char *path, size_t size, const char *directory, const char *file) {
  snprintf(path, size, *file ? "%s/%s" : "%s", directory, file);
  return path;
}

const char *canary(const char *name, const char *file) {
  static char directories[4][512], paths[4][512];
  static int turn;
  turn = (turn + 1) % 4;
  return below(paths[turn], sizeof *paths, below(directories[turn], sizeof *directories, given("ATTACK_CANARY"), name), file);
}

const char *scratch(const char *file) {
  static char paths[4][512];
  static int turn;
  turn = (turn + 1) % 4;
  return below(paths[turn], sizeof *paths, given("ATTACK_SCRATCH"), file);
}

bool in_weak_place(void) { return getenv("ATTACK_WEAK") != NULL; }

bool write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  bool whole = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  return !close(fd) && whole;
}

ssize_t read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  if (length >= 0) text[length] = '\0';
  return length;
}
