/* Takes fcntl locks on behalf of restored processes. The kernel drops a process's locks of a file
 * when it closes any descriptor of that file, and CRIU closes one for every shared mapping after it
 * has restored the locks. Only the process itself can take them again: every thread of the frozen
 * cell is stopped, then the cell thawed, so that nothing but the one system call runs. */
#define _GNU_SOURCE
#include "cell.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <sys/user.h>
typedef struct user_regs_struct registers;
static const unsigned char call_instruction[] = {0x0f, 0x05};
#define STACK(regs) ((regs)->rsp)
#define RESULT(regs) ((long)(regs)->rax)

static void prepare_call(registers *regs, uint64_t at, int fd, uint64_t lock) {
  regs->rip = at;
  regs->rax = SYS_fcntl;
  regs->orig_rax = (unsigned long long)-1; /* no interrupted call to go on with */
  regs->rdi = (unsigned long long)fd;
  regs->rsi = F_SETLK;
  regs->rdx = lock;
}
#elif defined(__aarch64__)
#include <asm/ptrace.h>
typedef struct user_pt_regs registers;
static const unsigned char call_instruction[] = {0x01, 0x00, 0x00, 0xd4};
#define STACK(regs) ((regs)->sp)
#define RESULT(regs) ((long)(regs)->regs[0])

static void prepare_call(registers *regs, uint64_t at, int fd, uint64_t lock) {
  regs->pc = at;
  regs->regs[8] = SYS_fcntl;
  regs->regs[0] = (uint64_t)fd;
  regs->regs[1] = F_SETLK;
  regs->regs[2] = lock;
}
#endif

#define MAX_THREADS 65536

struct process {
  pid_t pid;
  int inner;     /* its number inside the cell */
  uint64_t call; /* see find_call; 0 if it was not looked for yet */
};

static pid_t threads[MAX_THREADS];
static size_t thread_count;
static struct process *processes;
static size_t process_count;

static int number_inside(pid_t pid) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "re");
  int last = -1;
  while (status && last < 0 && fgets(line, sizeof line, status))
    if (!strncmp(line, "NSpid:", 6)) last = atoi(strrchr(line, '\t') + 1);
  if (status) fclose(status);
  return last;
}

static void remember(pid_t pid) {
  processes = realloc(processes, (process_count + 1) * sizeof *processes);
  if (!processes) die("realloc", "processes");
  processes[process_count++] = (struct process){.pid = pid, .inner = number_inside(pid)};
}

static void stop(pid_t thread) {
  if (thread_count == MAX_THREADS) die_usage("too many threads to stop", NULL);
  if (ptrace(PTRACE_SEIZE, thread, 0, 0)) {
    if (errno == EPERM || errno == ESRCH) return; /* a zombie */
    die("ptrace", "seize");
  }
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0)) die("ptrace", "interrupt");
  threads[thread_count++] = thread;
}

static void stop_all(const char *cgroup) {
  char path[512];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) {
    remember(pid);
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks) continue;
    for (struct dirent *entry; (entry = readdir(tasks));)
      if (*entry->d_name != '.') stop(atoi(entry->d_name));
    closedir(tasks);
  }
  fclose(list);
}

static void await_stops(void) {
  for (size_t i = 0; i < thread_count; i++) {
    int status;
    while (waitpid(threads[i], &status, __WALL) < 0)
      if (errno != EINTR) die("waitpid", "a thread of the cell");
    if (!WIFSTOPPED(status)) die_usage("a thread of the cell ended when it was stopped", NULL);
  }
}

static struct process *find(int inner) {
  for (size_t i = 0; i < process_count; i++)
    if (processes[i].inner == inner) return &processes[i];
  die_usage("no such process in the cell", NULL);
}

static void copy(pid_t pid, uint64_t at, void *own, size_t size, bool to_it) {
  struct iovec ours = {own, size}, theirs = {(void *)(uintptr_t)at, size};
  ssize_t n = to_it ? process_vm_writev(pid, &ours, 1, &theirs, 1, 0)
                    : process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
  if (n != (ssize_t)size) die(to_it ? "process_vm_writev" : "process_vm_readv", "cell");
}

/* A system call instruction that every process has: in the kernel's own page. */
static uint64_t find_call(pid_t pid) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "re");
  if (!maps) die("open", path);
  unsigned long start = 0, end = 0;
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2) break;
  fclose(maps);
  static unsigned char page[65536];
  size_t size = end - start;
  if (!size || size > sizeof page) die_usage("no vdso of a known size in", path);
  copy(pid, start, page, size, false);
  const unsigned char *found =
      memmem(page, size, call_instruction, sizeof call_instruction);
  if (!found) die_usage("no system call instruction in the vdso of", path);
  return start + (uint64_t)(found - page);
}

static void registers_of(pid_t pid, int request, registers *regs) {
  struct iovec vector = {regs, sizeof *regs};
  if (ptrace(request, pid, NT_PRSTATUS, &vector)) die("ptrace", "registers");
}

static void step(pid_t pid) {
  for (int status;;) {
    if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0)) die("ptrace", "step");
    while (waitpid(pid, &status, __WALL) < 0)
      if (errno != EINTR) die("waitpid", "step");
    if (!WIFSTOPPED(status)) die_usage("a process ended while it was locking", NULL);
    if (status >> 8 == SIGTRAP) return; /* not one of the stops before it */
  }
}

static void take(struct process *process, int fd, struct flock lock) {
  pid_t pid = process->pid;
  registers before, during;
  uint64_t mask, all = ~0ULL;
  struct flock scratch;
  registers_of(pid, PTRACE_GETREGSET, &before);
  during = before;
  uint64_t at = (STACK(&before) - 1024) & ~15ULL;
  copy(pid, at, &scratch, sizeof scratch, false);
  copy(pid, at, &lock, sizeof lock, true);
  if (ptrace(PTRACE_GETSIGMASK, pid, sizeof mask, &mask)) die("ptrace", "signal mask");
  if (ptrace(PTRACE_SETSIGMASK, pid, sizeof all, &all)) die("ptrace", "signal mask");
  if (!process->call) process->call = find_call(pid);
  prepare_call(&during, process->call, fd, at);
  registers_of(pid, PTRACE_SETREGSET, &during);
  step(pid);
  registers_of(pid, PTRACE_GETREGSET, &during);
  copy(pid, at, &scratch, sizeof scratch, true);
  registers_of(pid, PTRACE_SETREGSET, &before);
  if (ptrace(PTRACE_SETSIGMASK, pid, sizeof mask, &mask)) die("ptrace", "signal mask");
  if (RESULT(&during) == 0) return;
  errno = (int)-RESULT(&during);
  die("fcntl", "F_SETLK");
}

/* Lines on standard input: PID FD TYPE START LENGTH, numbers as inside the cell. A cell that is to
 * stay frozen is frozen again while its threads are stopped, so that none of them runs. */
void relock(const char *cgroup, bool stays_frozen) {
  stop_all(cgroup);
  set_frozen(cgroup, false);
  await_stops();
  int pid, fd, type;
  long long start, length;
  while (scanf("%d %d %d %lld %lld", &pid, &fd, &type, &start, &length) == 5)
    take(find(pid), fd, (struct flock){.l_type = (short)type, .l_start = start, .l_len = length});
  if (stays_frozen) set_frozen(cgroup, true);
  for (size_t i = 0; i < thread_count; i++)
    if (ptrace(PTRACE_DETACH, threads[i], 0, 0)) die("ptrace", "detach");
}
