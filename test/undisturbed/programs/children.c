/* What a parent sees of its children: they live, they are the same, nobody stopped or traced them. */
#define _GNU_SOURCE
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child_signals, continued_signals;
static void on_child(int number) {
  (void)number;
  child_signals = child_signals + 1;
}
static void on_continue(int number) {
  (void)number;
  continued_signals = continued_signals + 1;
}

static int sleeps(void) {
  while (pause() < 0) continue;
  return 0;
}

/* The fields of /proc/PID/stat after the name: state is 0, the parent 1, the start time 19. */
static char *field_of(pid_t pid, int wanted) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  char *text = slurp(path), *rest = strrchr(text, ')'), *word = NULL;
  if (!rest) return strdup("none");
  rest += 2;
  for (int i = 0; i <= wanted; i++) word = strsep(&rest, " ");
  return strdup(word ? word : "none");
}

/* psutil and ProcessHandle know a child by its pid and start time. */
static void start_times(void) {
  pid_t child = start(sleeps);
  char *own = field_of(getpid(), 19), *its = field_of(child, 19), *init = field_of(1, 19);
  hold();
  same_text("own start time", own, field_of(getpid(), 19));
  same_text("start time of the child", its, field_of(child, 19));
  same_text("start time of process 1", init, field_of(1, 19));
  kill(child, SIGKILL);
}

/* No state change of a child is reported, because there was none. */
static void running_child(void) {
  signal(SIGCHLD, on_child);
  pid_t child = start(sleeps);
  ready();
  int status;
  while (!is_over() && !has_noticed()) {
    pid_t changed = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed != 0) notice("waitpid gave %d with status 0x%x", changed, status);
    rest(0.002);
  }
  same("SIGCHLD", 0, child_signals);
  kill(child, SIGKILL);
}

static void stopped_child(void) {
  pid_t child = start(sleeps);
  signal(SIGCHLD, on_child);
  kill(child, SIGSTOP);
  int status;
  MUST(waitpid(child, &status, WUNTRACED));
  while (!child_signals) rest(0.01); /* the kernel sends it after `waitpid` can see the stop */
  child_signals = 0;
  hold();
  same("state changes of the child", 0, waitpid(child, &status, WNOHANG | WUNTRACED | WCONTINUED));
  same_text("its state", "T", field_of(child, 0));
  same("SIGCHLD", 0, child_signals);
  kill(child, SIGCONT);
  same("continued", child, waitpid(child, &status, WCONTINUED));
  kill(child, SIGKILL);
}

/* One that was stopped, and whose parent has not asked yet. */
static void stop_not_asked_for(void) {
  pid_t child = start(sleeps);
  kill(child, SIGSTOP);
  while (strcmp(field_of(child, 0), "T") != 0) rest(0.01);
  hold();
  int status = 0;
  same("the stop that waits", child, waitpid(child, &status, WNOHANG | WUNTRACED));
  same("by", SIGSTOP, WSTOPSIG(status));
  kill(child, SIGKILL);
}

static void continue_handler(void) {
  signal(SIGCONT, on_continue);
  hold();
  same("SIGCONT", 0, continued_signals);
}

static int exits(void) { return 42; }
static void zombie(void) {
  pid_t child = start(exits);
  siginfo_t info = {0};
  MUST(waitid(P_PID, child, &info, WEXITED | WNOWAIT));
  char *began = field_of(child, 19);
  hold();
  same_text("state", "Z", field_of(child, 0));
  same_text("start time", began, field_of(child, 19));
  same("exit code", 42, end_of(child));
}

static void pids(void) {
  pid_t children[5];
  char was[300] = "", is[300] = "";
  for (int i = 0; i < 5; i++) children[i] = start(sleeps);
  for (int i = 0; i < 5; i++)
    sprintf(was + strlen(was), "%d %d %d ", children[i], getpgid(children[i]), getsid(children[i]));
  hold();
  for (int i = 0; i < 5; i++)
    sprintf(is + strlen(is), "%d %d %d ", children[i], getpgid(children[i]), getsid(children[i]));
  same_text("pids, groups, sessions", was, is);
  for (int i = 0; i < 5; i++) {
    EXPECT(atoi(field_of(children[i], 1)) == getpid());
    kill(children[i], SIGKILL);
    same("end", 1000 + SIGKILL, end_of(children[i]));
  }
}

/* The next pid comes after the last one; none is given out twice. */
static void next_pid(void) {
  pid_t first = start(exits);
  end_of(first);
  hold();
  pid_t next = start(exits);
  end_of(next);
  EXPECT(next > first);
}

/* Is anybody looking? Asked as often as can be. */
static void tracer(void) {
  char wrong[100] = "";
  ready();
  while (!is_over()) {
    char *text = slurp("/proc/self/status"), *line = line_of(text, "TracerPid:");
    if (strcmp(line, "TracerPid:\t0") != 0) snprintf(wrong, sizeof wrong, "%s", line);
    free(text);
    free(line);
    rest(0.001);
  }
  if (*wrong) notice("%s", wrong);
  EXPECT(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0);
}

static void *thread_sleeps(void *unused) {
  (void)unused;
  sleeps();
  return NULL;
}
static int count_threads(char *names, size_t room) {
  DIR *directory = opendir("/proc/self/task");
  int count = 0;
  *names = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_name[0] == '.') continue;
    count++;
    strncat(strncat(names, entry->d_name, room - strlen(names) - 1), " ", room - strlen(names) - 1);
  }
  closedir(directory);
  return count;
}
static void threads(void) {
  char was[300], is[300];
  pthread_t thread;
  for (int i = 0; i < 6; i++) pthread_create(&thread, NULL, thread_sleeps, NULL);
  count_threads(was, sizeof was);
  hold();
  same("threads", 7, count_threads(is, sizeof is));
  same_text("their numbers", was, is);
}

/* A parent that debugs its child: only one may trace a process at a time. */
static int is_traced(void) {
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGSTOP);
  return 5;
}
static void traced_child(void) {
  pid_t child = start(is_traced);
  int status;
  MUST(waitpid(child, &status, 0));
  hold();
  errno = 0;
  ptrace(PTRACE_PEEKUSER, child, 0, 0);
  same("error of reading its registers", 0, errno);
  EXPECT(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  same("end", 5, end_of(child));
}

/* Children that come and go all the time: each is waited for once and ends as it should. */
static int short_life(void) {
  rest(0.005);
  return 7;
}
static void many_children(void) {
  ready();
  while (!is_over() && !has_noticed()) {
    pid_t children[4];
    for (int i = 0; i < 4; i++) children[i] = start(short_life);
    for (int i = 0; i < 4; i++) same("end of a child", 7, end_of(children[i]));
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    rest(0.02);
  }
}

/* An orphan goes to the reaper that was chosen. */
static int leaves_orphan(void) {
  if (fork() == 0) sleeps();
  return 0;
}
static void orphan(void) {
  MUST(prctl(PR_SET_CHILD_SUBREAPER, 1));
  pid_t child = start(leaves_orphan);
  end_of(child);
  char *list = slurp("/proc/thread-self/children");
  hold();
  same_text("children", list, slurp("/proc/thread-self/children"));
  pid_t orphan_ = atoi(list);
  EXPECT(kill(orphan_, SIGKILL) == 0);
  same("end of the orphan", 1000 + SIGKILL, end_of(orphan_));
}

const struct program child_programs[] = {
    {"start-times", start_times},
    {"running-child", running_child},
    {"stopped-child", stopped_child},
    {"stop-not-asked-for", stop_not_asked_for},
    {"continue-handler", continue_handler},
    {"zombie", zombie},
    {"pids", pids},
    {"next-pid", next_pid},
    {"tracer", tracer},
    {"threads", threads},
    {"traced-child", traced_child},
    {"many-children", many_children},
    {"orphan", orphan},
    {0},
};
