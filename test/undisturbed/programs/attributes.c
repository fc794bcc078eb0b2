/* Attributes of a process that it sets once and relies on. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void affinity(void) {
  cpu_set_t one, is;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  MUST(sched_setaffinity(0, sizeof one, &one));
  hold();
  MUST(sched_getaffinity(0, sizeof is, &is));
  EXPECT(CPU_EQUAL(&one, &is));
}

static void nice_value(void) {
  MUST(setpriority(PRIO_PROCESS, 0, 7));
  hold();
  same("nice", 7, getpriority(PRIO_PROCESS, 0));
}

static void scheduling(void) {
  struct sched_param none = {0};
  MUST(sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &none));
  hold();
  same("policy", SCHED_BATCH | SCHED_RESET_ON_FORK, sched_getscheduler(0));
}

static void input_output_priority(void) {
  int priority = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6);
  MUST(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority));
  hold();
  same("priority", priority, syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0));
}

static void watch_proc(const char *path, const char *text) {
  if (text) write_file(path, text);
  char *was = slurp(path);
  hold();
  same_text(path, was, slurp(path));
}
static void out_of_memory_score(void) { watch_proc("/proc/self/oom_score_adj", "321"); }
static void core_filter(void) { watch_proc("/proc/self/coredump_filter", "0x5"); }
static void control_group(void) { watch_proc("/proc/self/cgroup", NULL); }
static void environment(void) { watch_proc("/proc/self/environ", NULL); }
static void command_line(void) { watch_proc("/proc/self/cmdline", NULL); }

static void thread_name(void) {
  MUST(prctl(PR_SET_NAME, "un disturbed)"));
  watch_proc("/proc/self/comm", NULL);
}

static void limits(void) {
  const struct {
    int resource;
    struct rlimit value;
  } set[] = {{RLIMIT_NOFILE, {333, 444}},         {RLIMIT_CORE, {0, 5000}},      {RLIMIT_STACK, {4 << 20, 64 << 20}},
             {RLIMIT_FSIZE, {1 << 30, 1L << 40}}, {RLIMIT_CPU, {99999, 999999}}, {RLIMIT_SIGPENDING, {50, 60}}};
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) MUST(setrlimit(set[i].resource, &set[i].value));
  watch_proc("/proc/self/limits", NULL);
}

static void mode_mask(void) {
  umask(027);
  hold();
  same("umask", 027, umask(0));
  umask(027);
}

static void personality_flags(void) {
  MUST(personality(ADDR_NO_RANDOMIZE | UNAME26));
  hold();
  same("personality", ADDR_NO_RANDOMIZE | UNAME26, personality(0xffffffff));
}

/* Everything that prctl gives back as a number. */
static void watch_prctl(int set, unsigned long value, int get, long expected) {
  MUST(prctl(set, value, 0, 0, 0));
  hold();
  same("what prctl gives back", expected, prctl(get, 0, 0, 0, 0));
}
static void no_new_privileges(void) { watch_prctl(PR_SET_NO_NEW_PRIVS, 1, PR_GET_NO_NEW_PRIVS, 1); }
static void not_dumpable(void) { watch_prctl(PR_SET_DUMPABLE, 0, PR_GET_DUMPABLE, 0); }
static void no_huge_pages(void) { watch_prctl(PR_SET_THP_DISABLE, 1, PR_GET_THP_DISABLE, 1); }
static void keep_capabilities(void) { watch_prctl(PR_SET_KEEPCAPS, 1, PR_GET_KEEPCAPS, 1); }
static void slack(void) { watch_prctl(PR_SET_TIMERSLACK, 777777, PR_GET_TIMERSLACK, 777777); }
static void machine_checks(void) {
  MUST(prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0));
  hold();
  same("machine checks", PR_MCE_KILL_EARLY, prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
}

static void watch_pointer(int set, unsigned long value, int get) {
  int is = -1;
  MUST(prctl(set, value, 0, 0, 0));
  hold();
  MUST(prctl(get, &is, 0, 0, 0));
  same("what prctl gives back", (long)value, is);
}
static void death_signal(void) { watch_pointer(PR_SET_PDEATHSIG, SIGUSR2, PR_GET_PDEATHSIG); }
static void reaper_of_orphans(void) { watch_pointer(PR_SET_CHILD_SUBREAPER, 1, PR_GET_CHILD_SUBREAPER); }

static void session(void) {
  long was[] = {getpid(), getppid(), getsid(0), getpgid(0), syscall(SYS_gettid)};
  hold();
  same("pid", was[0], getpid());
  same("parent", was[1], getppid());
  same("session", was[2], getsid(0));
  same("group", was[3], getpgid(0));
  same("thread", was[4], syscall(SYS_gettid));
}

static void memory_policy(void) {
  unsigned long nodes = 1, is = 0;
  int mode = -1;
  MUST(syscall(SYS_set_mempolicy, 2, &nodes, 8));
  hold();
  MUST(syscall(SYS_get_mempolicy, &mode, &is, 64, NULL, 0));
  same("mode", 2, mode);
  same("nodes", 1, (long)is);
}

static void robust_list(void) {
  void *was, *is;
  size_t length;
  MUST(syscall(SYS_get_robust_list, 0, &was, &length));
  hold();
  MUST(syscall(SYS_get_robust_list, 0, &is, &length));
  same("robust list", (long)was, (long)is);
}

static void memory_barriers(void) {
  enum { REGISTER_PRIVATE = 16, PRIVATE = 8 };
  MUST(syscall(SYS_membarrier, REGISTER_PRIVATE, 0, 0));
  hold();
  same("membarrier", 0, syscall(SYS_membarrier, PRIVATE, 0, 0));
}

const struct program attribute_programs[] = {
    {"affinity", affinity},
    {"nice", nice_value},
    {"scheduling", scheduling},
    {"io-priority", input_output_priority},
    {"oom-score", out_of_memory_score},
    {"core-filter", core_filter},
    {"control-group", control_group},
    {"environment", environment},
    {"command-line", command_line},
    {"thread-name", thread_name},
    {"limits", limits},
    {"umask", mode_mask},
    {"personality", personality_flags},
    {"no-new-privileges", no_new_privileges},
    {"not-dumpable", not_dumpable},
    {"no-huge-pages", no_huge_pages},
    {"keep-capabilities", keep_capabilities},
    {"slack-of-prctl", slack},
    {"machine-checks", machine_checks},
    {"death-signal", death_signal},
    {"reaper", reaper_of_orphans},
    {"session", session},
    {"memory-policy", memory_policy},
    {"robust-list", robust_list},
    {"memory-barriers", memory_barriers},
    {0},
};
