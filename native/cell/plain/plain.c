/* Runs a program with the host's files, in pid, mount, network, ipc and uts namespaces of its own. One directory is
 * replaced by a copy, which is mounted over it. There are no other walls: this is for the criu backend, which branches
 * plain processes.
 *
 * Process 1 is this one: it reaps orphans and runs nothing. CRIU neither dumps nor restores it, so that a CRIU that
 * runs beside it sees the same namespaces as the processes that it works on, and has none to dump. The answer on stdout
 * is the host's pid of process 1. */
#define _GNU_SOURCE
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "network.h"
#include "report.h"

#define SUCCESS "ok"
#define AGENT 2 /* the first program that is started here, and in every copy */
/* How far from the largest pid a CRIU starts: the processes that it restores need their own, which are usually small.
 */
#define CRIU_PIDS 1000
/* The same for a CRIU that the agent starts. Processes may keep its session, whose number no later CRIU may take. */
#define AGENT_CRIU_PIDS 2000

struct plan {
  const char *files, *at;  /* the copy, and the directory that it is mounted over */
  const char *run, *shown; /* the same for where the agent's socket is */
  bool finishes;           /* the program ends when everything runs, as a restore does */
  bool leaves_pids;        /* what the program starts later must not get small pids */
  char **program;
};

static void bind_over(const char *from, const char *to) {
  if (mount(from, to, NULL, MS_BIND, NULL)) die("bind '%s' on '%s'", from, to);
}

static void mount_own(const char *type, const char *at, const char *options) {
  if (mount(type, at, type, MS_NOSUID | MS_NOEXEC, options)) die("mount %s on '%s'", type, at);
}

static void arrange_mounts(const struct plan *plan) {
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) die("mount '/' as private");
  bind_over(plan->files, plan->at);
  bind_over(plan->run, plan->shown);
  mount_own("proc", "/proc", NULL);
  /* Terminals keep their numbers in every copy. */
  mount_own("devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=0620,gid=5");
}

static void leave_pids_free(int from_largest) {
  int largest = 0;
  char text[32];
  FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
  if (!file || fscanf(file, "%d", &largest) != 1) die("read '/proc/sys/kernel/pid_max'");
  fclose(file);
  snprintf(text, sizeof text, "%d", largest - from_largest);
  write_file("/proc/sys/kernel/ns_last_pid", text);
}

static void let_go_of_the_caller(void) {
  int null = open("/dev/null", O_RDWR);
  if (null < 0) die("open '/dev/null'");
  for (int fd = 0; fd <= 2; fd++)
    if (dup2(null, fd) < 0) die("dup2 of '/dev/null' to %d", fd);
  if (null > 2) close(null);
}

__attribute__((noreturn)) static void run_program(const struct plan *plan, int report) {
  char *environment[] = {NULL};
  sigset_t none;
  report_errors_to(report);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (setsid() < 0) die("setsid");
  if (chdir(plan->at)) die("chdir '%s'", plan->at);
  let_go_of_the_caller();
  /* CRIU would not find what the host has open in these mounts. */
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC)) die("close_range");
  execve(plan->program[0], plan->program, environment);
  die("execve '%s'", plan->program[0]);
}

/* Passes on why a program could not be executed. The pipe ends empty if it was. */
static void await_start(int started, int report) {
  char text[2048];
  ssize_t n;
  size_t used = 0;
  while (used < sizeof text && (n = read(started, text + used, sizeof text - used)) > 0) used += (size_t)n;
  close(started);
  if (!used) return;
  (void)write_all(report, text, used); /* if the caller is gone, nobody wants to know */
  _exit(1);
}

static void await_end(const struct plan *plan, pid_t pid) {
  int status;
  /* What it restores becomes a child of this process, too. */
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) die("waitpid %d", pid);
  if (!WIFEXITED(status) || WEXITSTATUS(status)) die_because("%s failed with status %d", plan->program[0], status);
}

static void start_program(const struct plan *plan, int report) {
  int started[2];
  if (plan->finishes) leave_pids_free(CRIU_PIDS);
  if (pipe2(started, O_CLOEXEC)) die("pipe2");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) run_program(plan, started[1]);
  close(started[1]);
  await_start(started[0], report);
  if (plan->finishes) await_end(plan, pid);
  if (plan->leaves_pids) leave_pids_free(AGENT_CRIU_PIDS);
}

/* Everything here ends together with the agent. */
__attribute__((noreturn)) static void reap(const sigset_t *ended) {
  for (;;) {
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
      if (pid == AGENT) _exit(0);
    sigwaitinfo(ended, NULL);
  }
}

__attribute__((noreturn)) static void be_first_process(const struct plan *plan, int report) {
  sigset_t ended;
  /* Until everything runs, a caller that is killed must leave no process behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  report_errors_to(report);
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, NULL);
  if (setsid() < 0) die("setsid");
  arrange_mounts(plan);
  bring_loopback_up();
  start_program(plan, report);
  if (chdir("/")) die("chdir '/'");
  let_go_of_the_caller();
  prctl(PR_SET_PDEATHSIG, 0);
  if (!write_all(report, SUCCESS, strlen(SUCCESS))) _exit(1);
  close(report);
  reap(&ended);
}

static void await_report(int report, pid_t pid) {
  char text[2048];
  ssize_t n;
  size_t used = 0;
  while (used < sizeof text && (n = read(report, text + used, sizeof text - used)) > 0) used += (size_t)n;
  if (used == strlen(SUCCESS) && !memcmp(text, SUCCESS, used)) return;
  (void)write_all(STDERR_FILENO, text, used); /* the exit status says that it failed, too */
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  _exit(1);
}

void verb_plain(char **words) {
  const struct plan plan = {
      .files = words[0],
      .at = words[1],
      .run = words[2],
      .shown = words[3],
      .finishes = !strcmp(words[4], "finish"),
      .leaves_pids = !strcmp(words[4], "leave-pids"),
      .program = words + 5,
  };
  int report[2];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (pipe2(report, O_CLOEXEC)) die("pipe2");
  if (unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC))
    die("unshare pid, mount, network, uts and ipc namespaces");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) be_first_process(&plan, report[1]);
  close(report[1]);
  await_report(report[0], pid);
  printf("%d\n", pid);
}
