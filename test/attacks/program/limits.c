/* The limits of an environment, which the tests set low: ATTACK_PROCESSES and ATTACK_MEMORY. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A separate process, which may be killed for it. */
static int status_of(void (*work)(void)) {
  pid_t pid = fork();
  if (pid == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

static struct finding fork_many(const void *with) {
  long limit = given_number("ATTACK_PROCESSES"), count = 0;
  pid_t *children = calloc((size_t)limit + 1, sizeof *children);
  for (; count <= limit; count++) {
    pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      pause();
      _exit(0);
    }
    children[count] = pid;
  }
  for (long i = 0; i < count; i++) kill(children[i], SIGKILL);
  for (long i = 0; i < count; i++) waitpid(children[i], NULL, 0);
  return count > limit ? succeeded("made %ld processes", count) : refused("no more than %ld processes", count);
}

static void fill(int sharing) {
  size_t size = (size_t)given_number("ATTACK_MEMORY") + (64 << 20);
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
}

static void fill_private(void) { fill(MAP_PRIVATE); }
static void fill_shared(void) { fill(MAP_SHARED); }

static struct finding use_memory(const void *shared) {
  int status = status_of(shared ? fill_shared : fill_private);
  if (WIFSIGNALED(status)) return refused("killed by signal %d", WTERMSIG(status));
  return WEXITSTATUS(status) ? broken("exit %d", WEXITSTATUS(status)) : succeeded("used more than the limit");
}

static const struct attack attacks[] = {
    {"processes-beyond-limit", fork_many},
    {"memory-beyond-limit", use_memory},
    {"shared-memory-beyond-limit", use_memory, "shared"},
};
SUBJECT(limit_attacks, attacks);
