/* Attributes of threads that another process can read and set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attributes.h"
#include "proc.h"
#include "shared/owned.h"
#include "waits.h"

/* Of /proc/PID/stat, where the kernel shows what PR_MCE_KILL set. */
#define MCE_PROCESS 0x80
#define MCE_EARLY 0x08000000

static size_t cpus_of(pid_t thread, uint8_t cpus[MOST_CPU_BYTES]) {
  memset(cpus, 0, MOST_CPU_BYTES);
  long length = syscall(SYS_sched_getaffinity, thread, MOST_CPU_BYTES, cpus);
  return length > 0 ? (size_t)length : 0;
}

/* False if the thread has ended, or the kernel has no such file. */
static bool read_number(pid_t process, pid_t thread, const char *name, int base, unsigned long *number) {
  char text[64];
  if (!read_proc(process, thread, name, text, sizeof text)) return false;
  *number = strtoul(text, NULL, base);
  return true;
}

/* The kernel has this file only for processes; it also finds threads by their own number. */
static bool read_slack(pid_t thread, unsigned long *slack) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/%d/timerslack_ns", thread);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (length <= 0) return false;
  text[length] = 0;
  *slack = strtoul(text, NULL, 10);
  return true;
}

struct defaults take_defaults(void) {
  struct defaults own = {0};
  pid_t self = getpid();
  own.cpu_bytes = cpus_of(self, own.cpus);
  read_slack(self, &own.slack);
  read_number(self, self, "personality", 16, &own.personality);
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/%d/coredump_filter", self);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && read(fd, text, sizeof text - 1) > 0) own.core_filter = strtoul(text, NULL, 16);
  return own;
}

static void begin(FILE *to, const char *word, const struct status *inside) {
  fprintf(to, "%s %d %d ", word, inside->process, inside->thread);
}

static void note_number(FILE *to, const char *word, const struct status *inside, unsigned long value) {
  begin(to, word, inside);
  fprintf(to, "%lu\n", value);
}

static void note_affinity(FILE *to, const struct defaults *defaults, pid_t thread, const struct status *inside) {
  uint8_t cpus[MOST_CPU_BYTES];
  size_t bytes = cpus_of(thread, cpus);
  if (!bytes || (bytes == defaults->cpu_bytes && !memcmp(cpus, defaults->cpus, bytes))) return;
  while (bytes > 1 && !cpus[bytes - 1]) bytes--;
  begin(to, "affinity", inside);
  print_hex(to, cpus, bytes);
  putc('\n', to);
}

static void note_flags(FILE *to, pid_t process, pid_t thread, const struct status *inside) {
  char text[1024];
  unsigned flags;
  if (!read_proc(process, thread, "stat", text, sizeof text)) return;
  const char *name_end = strrchr(text, ')');
  if (!name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || !(flags & MCE_PROCESS)) return;
  note_number(to, "machine-checks", inside, flags & MCE_EARLY ? 1 : 0); /* PR_MCE_KILL_EARLY or _LATE */
}

/* Of the memory, which all threads share. */
static void note_core_filter(FILE *to, const struct defaults *defaults, pid_t process, const struct status *inside) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/%d/coredump_filter", process);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (length <= 0) return; /* a zombie has none */
  text[length] = 0;
  unsigned long filter = strtoul(text, NULL, 16);
  if (filter != defaults->core_filter) note_number(to, "core-filter", inside, filter);
}

void note_thread(FILE *to, const struct defaults *defaults, pid_t process, pid_t thread) {
  struct status inside;
  unsigned long number;
  if (!read_status(process, thread, &inside)) return;
  note_affinity(to, defaults, thread, &inside);
  long priority = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, thread);
  if (priority > 0) note_number(to, "io-priority", &inside, (unsigned long)priority);
  /* 0: of a real-time thread, which has none */
  if (read_slack(thread, &number) && number && number != defaults->slack)
    note_number(to, "timer-slack", &inside, number);
  if (read_number(process, thread, "personality", 16, &number) && number != defaults->personality)
    note_number(to, "personality", &inside, number);
  note_flags(to, process, thread, &inside);
  if (process != thread) return;
  note_core_filter(to, defaults, process, &inside);
  note_unasked_stop(to, process, &inside);
  note_future(to, process, inside.process);
}

/* Not all CPUs of the original need exist here. */
int put_affinity(const struct target *target, const char *value) {
  uint8_t cpus[MOST_CPU_BYTES] = {0};
  if (parse_hex(value, cpus, sizeof cpus) <= 0) return EINVAL;
  if (!syscall(SYS_sched_setaffinity, target->thread, sizeof cpus, cpus)) return 0;
  return errno == EINVAL ? ENXIO : errno;
}

/* The real-time class is for the host's root, which nobody inside can have been. */
int put_io_priority(const struct target *target, const char *value) {
  unsigned long priority;
  if (!parse_number(value, 0xffff, &priority)) return EINVAL;
  unsigned long class = IOPRIO_PRIO_CLASS(priority);
  if (class != IOPRIO_CLASS_BE && class != IOPRIO_CLASS_IDLE) return EPERM;
  return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, target->thread, (int)priority) ? errno : 0;
}

static int write_number(pid_t process, const char *name, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", process, name);
  autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
  return fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
}

int put_timer_slack(const struct target *target, const char *value) {
  unsigned long slack;
  return parse_number(value, UINT64_MAX, &slack) ? write_number(target->thread, "timerslack_ns", value) : EINVAL;
}

int put_core_filter(const struct target *target, const char *value) {
  unsigned long filter;
  return parse_number(value, UINT32_MAX, &filter) ? write_number(target->process, "coredump_filter", value) : EINVAL;
}
