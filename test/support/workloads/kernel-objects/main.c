/* Makes one of each kernel object, and verifies all of them on demand. Lines on standard input:
 * check (prints OK, or what is wrong), mark WORD, marks, say TEXT. */
#define _GNU_SOURCE
#include "object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct object *const families[] = {
    memory_objects, ipc_objects,    file_objects,  lock_objects,
    pipe_objects,   socket_objects, timer_objects, process_objects,
};

#define EACH_OBJECT(object)                                                                        \
  for (size_t family = 0; family < sizeof families / sizeof *families; family++)                   \
    for (const struct object *object = families[family]; object->name; object++)

void fail(const char *file, int line, const char *what) {
  printf("%s:%d: %s: %s\n", file, line, what, strerror(errno));
  fflush(stdout);
  _exit(1);
}

bool grows(const volatile long *counter) {
  const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
  long before = *counter;
  for (int i = 0; i < 500 && *counter == before; i++) nanosleep(&pause, NULL);
  return *counter > before;
}

bool in_child(bool (*check)(void)) {
  pid_t pid = MUST(fork());
  if (pid == 0) _exit(check() ? 0 : 1);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check_all(void) {
  bool all = true;
  EACH_OBJECT(object) {
    errno = 0;
    if (object->holds()) continue;
    printf("%s does not hold (%s)\n", object->name, errno ? strerror(errno) : "another value");
    all = false;
  }
  if (all) puts("OK");
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  EACH_OBJECT(object) object->make();
  make_mark_places();
  char line[256];
  for (;;) {
    if (!fgets(line, sizeof line, stdin)) {
      if (errno != EINTR) return 0;
      clearerr(stdin);
      continue;
    }
    line[strcspn(line, "\n")] = 0;
    char *rest = strchr(line, ' ');
    if (rest) *rest++ = 0;
    if (!strcmp(line, "check")) check_all();
    else if (!strcmp(line, "mark") && rest) mark(rest);
    else if (!strcmp(line, "marks")) print_marks();
    else if (!strcmp(line, "say") && rest) puts(rest);
  }
}
