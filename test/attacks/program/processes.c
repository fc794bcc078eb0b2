/* Processes outside. ATTACK_VICTIM is a process of the host; it blocks all signals, so that the watcher
 * sees which have arrived. */
#define _GNU_SOURCE
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pid_t victim(void) { return (pid_t)given_number("ATTACK_VICTIM"); }

static struct finding see(const void *with) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d", victim());
  return judge(access(path, F_OK), path);
}

static struct finding find_by_command(const void *with) {
  DIR *processes = opendir("/proc");
  if (!processes) return broken("/proc");
  for (struct dirent *entry; (entry = readdir(processes));) {
    char path[300], text[64];
    snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
    if (atoi(entry->d_name) && read_text(path, text, sizeof text) > 0 && !strcmp(text, "attack-victim\n"))
      return succeeded("process %.20s is shown", entry->d_name);
  }
  return refused("not shown");
}

static struct finding signal_it(const void *with) { return judge(kill(victim(), SIGTERM), "kill"); }
static struct finding signal_thread(const void *with) { return judge(syscall(SYS_tgkill, victim(), victim(), SIGTERM), "tgkill"); }
static struct finding queue_signal(const void *with) { return judge(sigqueue(victim(), SIGUSR1, (union sigval){0}), "sigqueue"); }
static struct finding hold_it(const void *with) { return judge(syscall(SYS_pidfd_open, victim(), 0), "pidfd_open"); }
static struct finding trace_it(const void *with) { return judge(ptrace(PTRACE_ATTACH, victim(), 0, 0), "attach"); }
static struct finding seize_it(const void *with) { return judge(ptrace(PTRACE_SEIZE, victim(), 0, 0), "seize"); }
static struct finding slow_it(const void *with) { return judge(setpriority(PRIO_PROCESS, (id_t)victim(), 7), "setpriority"); }

/* Every process that can be reached, with a signal that does nothing by itself. */
static struct finding signal_all(const void *with) {
  signal(SIGURG, SIG_IGN);
  return tried("%s", kill(-1, SIGURG) ? strerrorname_np(errno) : "done");
}

static struct finding slow_user(const void *with) {
  return tried("%s", setpriority(PRIO_USER, getuid(), 3) ? strerrorname_np(errno) : "done");
}

static struct finding read_memory(const void *with) {
  char byte;
  struct iovec here = {&byte, 1}, there = {(void *)given_number("ATTACK_VICTIM_ADDRESS"), 1};
  return judge(process_vm_readv(victim(), &here, 1, &there, 1, 0), "process_vm_readv");
}

static struct finding write_memory(const void *with) {
  char byte = 'x';
  struct iovec here = {&byte, 1}, there = {(void *)given_number("ATTACK_VICTIM_ADDRESS"), 1};
  return judge(process_vm_writev(victim(), &here, 1, &there, 1, 0), "process_vm_writev");
}

static struct finding compare(const void *with) {
  return judge(syscall(SYS_kcmp, getpid(), victim(), KCMP_VM, 0, 0), "kcmp");
}

static struct finding limit_it(const void *with) {
  struct rlimit old;
  return judge(prlimit(victim(), RLIMIT_NOFILE, NULL, &old), "prlimit");
}

static struct finding pin_it(const void *with) {
  cpu_set_t cpus;
  return judge(sched_getaffinity(victim(), sizeof cpus, &cpus), "sched_getaffinity");
}

static struct finding list_locks_of(const void *with) {
  void *head;
  size_t length;
  return judge(syscall(SYS_get_robust_list, victim(), &head, &length), "get_robust_list");
}

static struct finding delay_disk(const void *with) {
  return judge(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, victim(), IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)), "ioprio_set");
}

/* Files are sent to whoever runs outside through F_SETOWN. */
static struct finding own_signals(const void *with) {
  int ends[2];
  if (pipe(ends)) return broken("pipe");
  return judge(fcntl(ends[0], F_SETOWN, victim()), "F_SETOWN");
}

static const struct attack attacks[] = {
    {"process-see", see},
    {"process-find", find_by_command},
    {"process-kill", signal_it},
    {"process-tgkill", signal_thread},
    {"process-sigqueue", queue_signal},
    {"process-kill-all", signal_all},
    {"process-pidfd", hold_it},
    {"process-read-memory", read_memory},
    {"process-write-memory", write_memory},
    {"process-kcmp", compare},
    {"process-limits", limit_it},
    {"process-affinity", pin_it},
    {"process-robust-list", list_locks_of},
    {"process-nice", slow_it},
    {"process-nice-user", slow_user},
    {"process-io-priority", delay_disk},
    {"process-signal-owner", own_signals},
    {"process-seize", seize_it},
    {"process-trace", trace_it},
};
SUBJECT(process_attacks, attacks);
