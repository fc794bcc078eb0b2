/* What the kernel undoes with System V semaphores when a process ends (SEM_UNDO). It is in the kernel's memory, in a
 * list for each process, which its threads share:
 *
 *   undo PROCESS PROCESS SET SEMAPHORE CHANGE
 *
 * CHANGE is what is added to the semaphore at the end. In a copy, the process makes operations whose sum is 0, and of
 * which the kernel remembers only one half. Nobody is waiting yet, so nobody is woken. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include "attributes.h"
#include "kernel.h"
#include "report.h"
#include "shared/owned.h"
#include "waits.h"

#define MOST_VALUE_OF_ONE 32767 /* SEMVMX */
#define MOST_SETS 65536
#define MOST_IN_SET 65536
/* A step is half of the range at least. */
#define MOST_STEPS 3

/* In the cell's namespace, where this process is. */
static bool has_semaphores(void) {
  struct seminfo all;
  return semctl(0, 0, SEM_INFO, &all) >= 0 && all.semusz > 0;
}

static long count_of(int set) {
  struct semid_ds is;
  return semctl(set, 0, IPC_STAT, &is) ? -1 : (long)is.sem_nsems;
}

/* A pointer, or since Linux 6.6 an array at the end of the structure, in which no pointer would fit. */
static uint64_t changes_of(struct kernel *kernel, uint64_t undo) {
  long at = find_member(types_of(kernel), "sem_undo", "semadj");
  if (at < 0) return 0;
  bool is_pointer = at % 8 == 0 && at + 8 <= size_of_type(types_of(kernel), "sem_undo");
  return is_pointer ? read_pointer(kernel, undo, "sem_undo", "semadj") : undo + (uint64_t)at;
}

static bool print_set(FILE *to, struct kernel *kernel, uint64_t undo, int inside) {
  uint64_t number, changes = changes_of(kernel, undo);
  if (!changes || !read_number_at(kernel, undo, "sem_undo", "semid", 4, &number)) return false;
  int set = (int)number;
  long count = set < 0 ? 0 : count_of(set); /* -1: it was removed */
  if (count < 0 || count > MOST_IN_SET) return false;
  autofree short *list = require_memory(calloc((size_t)count + 1, sizeof *list));
  if (!read_kernel(kernel, changes, list, (size_t)count * sizeof *list)) return false;
  for (long i = 0; i < count; i++)
    if (list[i]) fprintf(to, "undo %d %d %d %ld %d\n", inside, inside, set, i, list[i]);
  return true;
}

static bool print_list(FILE *to, struct kernel *kernel, uint64_t list, int inside) {
  long first = find_member(types_of(kernel), "sem_undo_list", "list_proc");
  long in_undo = find_member(types_of(kernel), "sem_undo", "list_proc");
  if (first < 0 || in_undo < 0) return false;
  uint64_t head = list + (uint64_t)first, at = head;
  for (int i = 0; read_kernel(kernel, at, &at, sizeof at) && at != head; i++)
    if (i == MOST_SETS || !at || !print_set(to, kernel, at - (uint64_t)in_undo, inside)) return false;
  return at == head;
}

/* Lists that were met: processes that were made with CLONE_SYSVSEM have one in common. */
struct met {
  uint64_t *lists;
  size_t count;
};

static bool is_met(struct met *met, uint64_t list) {
  for (size_t i = 0; i < met->count; i++)
    if (met->lists[i] == list) return true;
  met->lists = require_memory(realloc(met->lists, (met->count + 1) * sizeof *met->lists));
  met->lists[met->count++] = list;
  return false;
}

static void note_process(FILE *to, struct kernel *kernel, pid_t process, struct met *met) {
  struct status inside;
  uint64_t list;
  if (!read_status(process, process, &inside)) return;
  uint64_t task = kernel ? address_of_process(kernel, process) : 0;
  bool is_read = task && read_number_at(kernel, task, "task_struct", "sysvsem", 8, &list);
  if (is_read && !list) return;
  if (!is_read || is_met(met, list) || !print_list(to, kernel, list, inside.process))
    fprintf(to, "undo-lost %d %d -\n", inside.process, inside.process);
}

void note_undo(FILE *to, const char *cgroup) {
  char path[PATH_MAX];
  struct met met = {0};
  if (!has_semaphores()) return;
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  FILE *list = fopen(path, "re");
  if (!list) die("open '%s'", path);
  for (int pid; fscanf(list, "%d", &pid) == 1;) note_process(to, require_kernel(), pid, &met);
  fclose(list);
  free(met.lists);
}

static struct sembuf operation(int semaphore, int change, int flags) {
  return (struct sembuf){(unsigned short)semaphore, (short)change, (short)(flags | IPC_NOWAIT)};
}

/* Operations that leave VALUE as it is, and have CHANGE added at the end of the process. Up, then down, or the other
 * way round, as far as the value allows it at once. */
static size_t plan_steps(struct sembuf list[2 * MOST_STEPS], int semaphore, int value, int change) {
  size_t count = 0;
  int sign = change < 0 ? -1 : 1, up = MOST_VALUE_OF_ONE - value, most = up > value ? up : value;
  for (int left = abs(change); left > 0; left -= most) {
    int step = left < most ? left : most;
    /* What the process does is the opposite of what is undone. */
    struct sembuf own = operation(semaphore, -sign * step, SEM_UNDO), other = operation(semaphore, sign * step, 0);
    bool own_first = (own.sem_op > 0) == (up >= step);
    list[count++] = own_first ? own : other;
    list[count++] = own_first ? other : own;
  }
  return count;
}

int put_undo(const struct target *target, const char *value) {
  int set, semaphore, change;
  long now;
  struct sembuf list[2 * MOST_STEPS];
  if (sscanf(value, "%d %d %d", &set, &semaphore, &change) != 3 || set < 0 || semaphore < 0 ||
      semaphore >= MOST_IN_SET || abs(change) > MOST_VALUE_OF_ONE + 1)
    return EINVAL;
  uint64_t ask[6] = {(uint64_t)set, (uint64_t)semaphore, GETVAL};
  int code = ask_inside(target, SYS_semctl, ask, &now);
  if (code) return code;
  if (now < 0 || now > MOST_VALUE_OF_ONE) return ERANGE;
  size_t count = plan_steps(list, semaphore, (int)now, change);
  uint64_t at;
  code = place_inside(target, list, count * sizeof *list, &at);
  return code ? code : make_inside(target, SYS_semop, (uint64_t[6]){(uint64_t)set, at, count});
}
