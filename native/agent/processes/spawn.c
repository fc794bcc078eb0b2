#define _GNU_SOURCE
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util.h"

enum step { STEP_TERMINAL, STEP_USER, STEP_DIRECTORY, STEP_EXECUTE };

struct failure {
  enum step step;
  int code; /* errno */
};

static struct rlimit descriptors;

void spawn_init(void) {
  if (getrlimit(RLIMIT_NOFILE, &descriptors) < 0) return;
  /* The agent needs several for each command. Programs keep the limit that they are used to. */
  struct rlimit raised = {descriptors.rlim_max, descriptors.rlim_max};
  setrlimit(RLIMIT_NOFILE, &raised);
}

static void reset_signals(void) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigset_t none;
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* If memory runs out, the kernel should end a program rather than PID 1. */
static void raise_oom_score(void) {
  autoclose int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "200", 3) < 0) return; /* it is higher already */
}

static int open_terminal(const struct spawn *spawn) {
  autoclose int terminal = open(spawn->terminal, O_RDWR | O_CLOEXEC);
  if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0) return -1;
  /* The user can open it by name, as after a login. */
  if (fchown(terminal, spawn->user->uid, -1) < 0 && errno != EPERM) return -1;
  return take_fd(&terminal);
}

static int connect_fds(const struct spawn *spawn) {
  int otherwise = spawn->terminal ? open_terminal(spawn) : open("/dev/null", O_RDWR | O_CLOEXEC);
  if (otherwise < 0 && spawn->terminal) return -1;
  for (int i = 0; i < 3; i++) {
    int from = spawn->fds[i] >= 0 ? spawn->fds[i] : otherwise;
    if (from < 0 || dup2(from, i) < 0) return -1;
  }
  return 0;
}

static enum step run(const struct spawn *spawn) {
  setsid();
  reset_signals();
  raise_oom_score();
  if (connect_fds(spawn) < 0) return STEP_TERMINAL;
  /* A program must not inherit anything of the agent's: CRIU would find it there. */
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  setrlimit(RLIMIT_NOFILE, &descriptors);
  if (user_become(spawn->user) < 0) return STEP_USER;
  if (chdir(spawn->directory) < 0 && (spawn->directory_asked || (chdir(spawn->user->home) < 0 && chdir("/") < 0)))
    return STEP_DIRECTORY;
  environ = (char **)spawn->environment;
  const char *file = spawn->argv[0];
  if (spawn->argv0) ((char **)spawn->argv)[0] = (char *)spawn->argv0;
  execvp(file, spawn->argv);
  return STEP_EXECUTE;
}

static int describe(const struct spawn *spawn, const struct failure *failure, struct error *error) {
  switch (failure->step) {
    case STEP_TERMINAL:
      return error_set(error, failure->code, "cannot open '%s'", spawn->terminal ? spawn->terminal : "/dev/null");
    case STEP_USER:
      return error_set(error, failure->code, "cannot become user '%s' (uid %u)", spawn->user->name, spawn->user->uid);
    case STEP_DIRECTORY: return error_set(error, failure->code, "cannot enter directory '%s'", spawn->directory);
    default: return error_set(error, failure->code, "cannot execute '%s'", spawn->argv[0]);
  }
}

/* The child writes why it failed. The pipe ends without that when the program is executed. */
static bool has_failed(int reader, struct failure *failure) {
  ssize_t got;
  do got = read(reader, failure, sizeof *failure);
  while (got < 0 && errno == EINTR);
  return got == sizeof *failure;
}

int spawn(const struct spawn *spawn, pid_t *pid, struct error *error) {
  struct failure failure;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return error_set(error, errno, "cannot start a process: pipe2");
  autoclose int reader = ends[0];
  autoclose int writer = ends[1];
  *pid = fork();
  if (*pid < 0) return error_set(error, errno, "cannot start a process: fork");
  if (*pid == 0) {
    failure.step = run(spawn);
    failure.code = errno;
    (void)!write(writer, &failure, sizeof failure);
    _exit(127);
  }
  close_fd(&writer);
  return has_failed(reader, &failure) ? describe(spawn, &failure, error) : 0;
}
