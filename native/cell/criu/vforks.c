/* Threads that wait for the child of a vfork. The kernel counts such a thread as frozen, but no tracer can stop it
 * before its child has executed a program, and the child is frozen, too. CRIU would wait for it in vain. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report.h"
#include "worker.h"

/* Reads the start of a file of one thread. False if the thread has ended. */
static bool read_of_thread(pid_t pid, pid_t tid, const char *name, char *text, size_t size) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  text[length < 0 ? 0 : length] = '\0';
  return length >= 0;
}

/* In state D, which a frozen thread of a v2 group has only in a vfork. */
static bool is_uninterruptible(pid_t pid, pid_t tid) {
  char text[512];
  const char *name_end = read_of_thread(pid, tid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
  return name_end && name_end[1] && name_end[2] == 'D';
}

/* The flags of clone3 are in the program's memory. If they cannot be read, it is not a vfork that waits. */
static uint64_t flags_at(pid_t tid, unsigned long long address) {
  uint64_t flags = 0;
  struct iovec to = {&flags, sizeof flags}, from = {(void *)(uintptr_t)address, sizeof flags};
  return process_vm_readv(tid, &to, 1, &from, 1, 0) == (ssize_t)sizeof flags ? flags : 0;
}

static bool is_in_vfork(pid_t pid, pid_t tid) {
  char text[256];
  long number;
  unsigned long long first;
  if (!read_of_thread(pid, tid, "syscall", text, sizeof text)) return false;
  if (sscanf(text, "%ld %llx", &number, &first) != 2) return false;
#ifdef SYS_vfork
  if (number == SYS_vfork) return true;
#endif
  if (number == SYS_clone) return first & CLONE_VFORK;
  return number == SYS_clone3 && flags_at(tid, first) & CLONE_VFORK;
}

/* The child that it started last; 0 if the kernel does not tell. */
static pid_t last_child(pid_t pid, pid_t tid) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, tid);
  FILE *children = fopen(path, "re");
  pid_t last = 0;
  for (int child; children && fscanf(children, "%d", &child) == 1;) last = child;
  if (children) fclose(children);
  return last;
}

static bool find_in_process(pid_t pid, struct vfork *found) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *threads = opendir(path);
  bool is_found = false;
  for (struct dirent *entry; !is_found && threads && (entry = readdir(threads));) {
    pid_t tid = atoi(entry->d_name);
    is_found = tid && is_uninterruptible(pid, tid) && is_in_vfork(pid, tid);
    if (is_found) *found = (struct vfork){.parent = pid, .child = last_child(pid, tid)};
  }
  if (threads) closedir(threads);
  return is_found;
}

bool find_vfork(const char *cgroup, struct vfork *found) {
  char path[512];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *processes = fopen(path, "re");
  if (!processes) die("open '%s'", path);
  bool is_found = false;
  for (int pid; !is_found && fscanf(processes, "%d", &pid) == 1;) is_found = find_in_process(pid, found);
  fclose(processes);
  return is_found;
}
