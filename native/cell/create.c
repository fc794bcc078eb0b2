/* Makes a cell: its namespaces, mounts and limits, and its first process. */
#define _GNU_SOURCE
#include "create.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inside.h"
#include "io.h"
#include "names.h"
#include "network.h"
#include "report.h"
#include "stage.h"
#include "walls.h"

static long plain_clone3(struct clone_args *args, size_t size) { return syscall(SYS_clone3, args, size); }

/* A cell's mounts belong to its own user namespace, so the child unshares its mount namespace later, once the
 * parent has staged what goes into it. */
static pid_t clone_cell(const struct spec *spec) {
  struct clone_args args = {
      .flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET,
      .exit_signal = SIGCHLD,
  };
  struct doorway groups[MOST_GROUPS];
  struct birth birth = {.owner = spec->id_base, .count = groups_to_enter(spec, groups), .groups = groups};
  int is_there; /* if not, `join_cgroups` moves it */
  pid_t pid = (pid_t)clone_into(&birth, &args, sizeof args, plain_clone3, &is_there);
  if (pid < 0) die("clone3 of user, pid, ipc, uts and network namespaces");
  return pid;
}

/* Between the helper and the first process of the cell. */
struct pipes {
  int go[2];     /* a byte when everything is staged */
  int report[2]; /* why the child could not become the agent; ends empty if it did */
};

static struct pipes open_pipes(void) {
  struct pipes pipes;
  if (pipe2(pipes.go, O_CLOEXEC) || pipe2(pipes.report, O_CLOEXEC)) die("pipe2");
  return pipes;
}

__attribute__((noreturn)) static void be_first_process(const struct spec *spec, const struct pipes *pipes) {
  char go;
  report_errors_to(pipes->report[1]);
  close(pipes->go[1]);
  if (!read_all(pipes->go[0], &go, 1)) _exit(1); /* the helper was killed */
  if (dup2(pipes->report[1], STDOUT_FILENO) < 0) die("dup2 of the report pipe");
  become_agent(spec);
}

static void await_agent(int report, pid_t pid) {
  char text[2048];
  size_t used = 0;
  for (ssize_t n; used < sizeof text && (n = read(report, text + used, sizeof text - used)) > 0;) used += (size_t)n;
  if (!used) return;
  (void)write_all(STDERR_FILENO, text, used); /* the exit status says that it failed, too */
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  _exit(1);
}

void verb_create(char **words) {
  static struct spec spec;
  parse_all_options(&spec, words);
  require_cell(&spec);
  if (!spec.hostname) die_because("a cell needs --hostname");
  /* A helper that outlives its caller would interfere with the caller's recovery. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct pipes pipes = open_pipes();
  enter_private_mounts();
  /* Before the clone: the child will have no right to enter the home above. */
  if (chdir(spec.env)) die("chdir '%s'", spec.env);
  bound_cell();
  pid_t pid = clone_cell(&spec);
  if (pid == 0) be_first_process(&spec, &pipes);
  close(pipes.report[1]);
  map_users(&spec, pid);
  if (spec.cgroup_count) limit_devices(spec.cgroups[0]);
  join_cgroups(&spec, pid);
  struct mappings mappings = {.cell = open_user_namespace(pid), .disk = map_disk_ids(&spec, start_mapping())};
  stage_mounts(&spec, mappings);
  require_mountpoints();
  if (spec.veth) create_veth(&spec, pid);
  if (!write_all(pipes.go[1], "", 1)) die("write to the first process");
  await_agent(pipes.report[0], pid);
  printf("%d\n", pid);
}
