/* Threads, children in every state, and what belongs to a process. */
#define _GNU_SOURCE
#include "object.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

static volatile long turns[THREADS];
static _Thread_local long own;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static long question, answer;

/* Counts in a variable that only this thread has. */
static void *count(void *index) {
  const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
  for (own = 0;; own++) {
    turns[(long)index] = own;
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* Sleeps until it gets a request. */
static void *reply(void *name) {
  MUST(prctl(PR_SET_NAME, name));
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (question == 0) pthread_cond_wait(&asked, &mutex);
    answer = question * 2;
    question = 0;
    pthread_cond_signal(&answered);
  }
  return NULL;
}

static void make_threads(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  for (long i = 0; i < THREADS; i++) pthread_create(&thread, NULL, count, (void *)i);
  pthread_create(&thread, NULL, reply, "replier");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool threads_hold(void) {
  for (int i = 0; i < THREADS; i++)
    if (!grows(&turns[i])) return false;
  pthread_mutex_lock(&mutex);
  question = 21, answer = 0;
  pthread_cond_signal(&asked);
  while (answer == 0) pthread_cond_wait(&answered, &mutex);
  pthread_mutex_unlock(&mutex);
  return answer == 42;
}

static pid_t zombie, killed, stopped, orphan_group;

static pid_t child(void) {
  pid_t pid = MUST(fork());
  /* Timers are not inherited; the program's own signals are not for its children. */
  if (pid == 0) signal(SIGHUP, SIG_DFL);
  return pid;
}

static void make_children(void) {
  if ((zombie = child()) == 0) _exit(42);
  if ((killed = child()) == 0) {
    raise(SIGKILL);
    _exit(0);
  }
  if ((stopped = child()) == 0) {
    for (;;) pause();
  }
  if ((orphan_group = child()) == 0) {
    setsid();
    for (;;) pause();
  }
  MUST(kill(stopped, SIGSTOP));
  siginfo_t info;
  MUST(waitid(P_PID, zombie, &info, WEXITED | WNOWAIT));
  MUST(waitid(P_PID, killed, &info, WEXITED | WNOWAIT));
  MUST(waitid(P_PID, stopped, &info, WSTOPPED | WNOWAIT));
  while (getsid(orphan_group) != orphan_group) sched_yield();
}

static char state_of(pid_t pid) {
  char path[64], state = '?';
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = '?';
  if (file) fclose(file);
  return state;
}

static bool ended(pid_t pid, int code, int status) {
  siginfo_t info = {0};
  return waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid &&
         info.si_code == code && info.si_status == status && state_of(pid) == 'Z';
}

static bool zombies_hold(void) {
  return ended(zombie, CLD_EXITED, 42) && ended(killed, CLD_KILLED, SIGKILL);
}

static bool stopped_holds(void) { return state_of(stopped) == 'T'; }

static bool session_holds(void) {
  return getsid(orphan_group) == orphan_group && getpgid(orphan_group) == orphan_group &&
         kill(orphan_group, 0) == 0;
}

static int pidfd;

static void nothing(void) {}

static void make_pidfd(void) { pidfd = (int)MUST(syscall(SYS_pidfd_open, orphan_group, 0)); }

static bool pidfd_holds(void) { return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0; }

static void make_attributes(void) {
  MUST(prctl(PR_SET_NAME, "kernel objects"));
  MUST(prctl(PR_SET_CHILD_SUBREAPER, 1));
  MUST(setpriority(PRIO_PROCESS, 0, 5));
  MUST(setrlimit(RLIMIT_NOFILE, &(struct rlimit){500, 600}));
  MUST(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}));
  umask(027);
}

static bool attributes_hold(void) {
  char name[16];
  int reaps = 0;
  struct rlimit files;
  mode_t mask = umask(027);
  return prctl(PR_GET_NAME, name) == 0 && !strcmp(name, "kernel objects") &&
         prctl(PR_GET_CHILD_SUBREAPER, &reaps) == 0 && reaps == 1 &&
         getpriority(PRIO_PROCESS, 0) == 5 && getrlimit(RLIMIT_NOFILE, &files) == 0 &&
         files.rlim_cur == 500 && files.rlim_max == 600 && mask == 027;
}

const struct object process_objects[] = {
    {"threads", make_threads, threads_hold},
    {"zombies and how they ended", make_children, zombies_hold},
    {"a stopped child", nothing, stopped_holds},
    {"a session of its own", nothing, session_holds},
    {"a pidfd", make_pidfd, pidfd_holds},
    {"name, priority, limits and mask", make_attributes, attributes_hold},
    {0},
};
