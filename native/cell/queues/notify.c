/* Programs that asked for a signal when the next message arrives in a POSIX queue. Only the process itself can ask, so
 * it does so before its first instruction. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"
#include "queues.h"
#include "report.h"

#define NUMBER_SIZE 16 /* of `struct upid`, which begins with the number */

void keep_queue(struct noting *noting, unsigned long inode, int process, int number) {
  size_t count = noting->queue_count;
  if (!(count & (count - 1)))
    noting->queues = require_memory(realloc(noting->queues, (count ? 2 * count : 1) * sizeof *noting->queues));
  noting->queues[noting->queue_count++] = (struct open_queue){inode, process, number};
}

static int descriptor_of(const struct noting *noting, unsigned long inode, int process) {
  for (size_t i = 0; i < noting->queue_count; i++)
    if (noting->queues[i].inode == inode && noting->queues[i].process == process) return noting->queues[i].number;
  return -1;
}

/* The number inside, which is the innermost; -1 if it cannot be read. */
static int pid_inside(struct kernel *kernel, uint64_t pid) {
  uint64_t level;
  int number = -1;
  long at = find_member(types_of(kernel), "pid", "numbers");
  if (at < 0 || !read_number_at(kernel, pid, "pid", "level", 4, &level)) return -1;
  read_kernel(kernel, pid + (uint64_t)at + level * NUMBER_SIZE, &number, sizeof number);
  return number;
}

static bool print_notification(struct noting *noting, struct kernel *kernel, uint64_t queue, uint64_t owner,
                               unsigned long inode) {
  struct sigevent event;
  long at = find_member(types_of(kernel), "mqueue_inode_info", "notify");
  int process = pid_inside(kernel, owner), number = descriptor_of(noting, inode, process);
  if (at < 0 || number < 0 || !read_kernel(kernel, queue + (uint64_t)at, &event, sizeof event)) return false;
  if (event.sigev_notify != SIGEV_SIGNAL && event.sigev_notify != SIGEV_NONE) return false;
  fprintf(noting->to, "notify %d %d %d %d %d %lu\n", process, process, number, event.sigev_notify, event.sigev_signo,
          (unsigned long)event.sigev_value.sival_ptr);
  return true;
}

/* Without a look at the kernel's memory, its own text tells that there is one. */
static bool has_notification(int fd) {
  char text[128];
  ssize_t length = pread(fd, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  const char *owner = strstr(text, "NOTIFY_PID:");
  return owner && atoi(owner + strlen("NOTIFY_PID:"));
}

void note_notification(struct noting *noting, int fd, unsigned long inode, const char *name) {
  struct kernel *kernel = require_kernel();
  uint64_t file = kernel ? address_of_inode(kernel, fd) : 0, owner = 0;
  long at = file ? find_member(types_of(kernel), "mqueue_inode_info", "vfs_inode") : -1;
  uint64_t queue = file - (uint64_t)at;
  bool is_read = at >= 0 && read_number_at(kernel, queue, "mqueue_inode_info", "notify_owner", 8, &owner);
  if (is_read ? !owner : !has_notification(fd)) return;
  if (is_read && print_notification(noting, kernel, queue, owner, inode)) return;
  fputs("notify-lost 1 1 ", noting->to);
  print_hex(noting->to, name, strlen(name));
  putc('\n', noting->to);
}

int put_notification(const struct target *target, const char *value) {
  int number, how, signal;
  unsigned long with;
  struct sigevent event = {0};
  if (sscanf(value, "%d %d %d %lu", &number, &how, &signal, &with) != 4) return EINVAL;
  event.sigev_notify = how;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = (void *)with;
  uint64_t at;
  int code = place_inside(target, &event, sizeof event, &at);
  return code ? code : make_inside(target, SYS_mq_notify, (uint64_t[6]){(uint64_t)number, at});
}
