/* Every dump has an end. A CRIU that waits for something that never comes would keep the environment still, so its
 * worker ends it. The code that CRIU has put into the processes then finds its socket closed, and removes itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "walls.h"
#include "worker.h"

#define MOST_IDLE_S 5    /* without running at all; even on a busy machine, who can run does so every second */
#define MOST_SILENT_S 60 /* without writing anything; it collects thousands of processes in a quarter of that */
#define LAST_WAIT_MS 5000

/* The first number after LABEL in a file of CRIU's. False if the kernel does not tell. */
static bool read_number(pid_t pid, const char *name, const char *label, uint64_t *number) {
  char path[64], line[128];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  FILE *file = fopen(path, "re");
  bool is_found = false;
  char pattern[32];
  snprintf(pattern, sizeof pattern, "%s%%lu", label);
  while (!is_found && file && fgets(line, sizeof line, file)) is_found = sscanf(line, pattern, number) == 1;
  if (file) fclose(file);
  return is_found;
}

bool has_stalled(struct progress *progress, pid_t criu) {
  uint64_t ran, written;
  bool known = read_number(criu, "schedstat", "", &ran) && read_number(criu, "io", "wchar: ", &written);
  progress->idle_s = !known || ran != progress->ran ? 0 : progress->idle_s + 1;
  progress->silent_s = !known || written != progress->written ? 0 : progress->silent_s + 1;
  if (known) progress->ran = ran, progress->written = written;
  return progress->idle_s >= MOST_IDLE_S || progress->silent_s >= MOST_SILENT_S;
}

/* CRIU has thawed the group, and nothing may run before the waits inside are put right. */
void end_stalled(const struct criu *criu, const struct spec *spec) {
  if (spec->cgroup_count) set_frozen(spec->cgroups[0], true);
  syscall(SYS_pidfd_send_signal, criu->process, SIGKILL, NULL, 0);
  struct pollfd end = {.fd = criu->process, .events = POLLIN};
  /* One that hangs in the kernel does not even end then, but nobody need wait for it. */
  while (poll(&end, 1, LAST_WAIT_MS) < 0 && errno == EINTR) continue;
}
