/* Where the kernel describes a process. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"
#include "shared/owned.h"

/* `struct pid`. Since Linux 6.9, a descriptor of a process has a file of its own, which leads there. */
static uint64_t address_of_pid(struct kernel *kernel, pid_t pid) {
  autoclose int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return 0;
  uint64_t address = address_of_private(kernel, fd);
  return address ? address : read_pointer(kernel, address_of_inode(kernel, fd), "inode", "i_private");
}

uint64_t address_of_process(struct kernel *kernel, pid_t pid) {
  uint64_t number, node = read_pointer(kernel, address_of_pid(kernel, pid), "pid", "tasks");
  long in_task = find_member(types_of(kernel), "task_struct", "pid_links");
  if (!node || in_task < 0) return 0;
  uint64_t task = node - (uint64_t)in_task;
  /* The types may have changed their meaning. */
  bool is_it = read_number_at(kernel, task, "task_struct", "pid", 4, &number) && number == (uint64_t)pid;
  return is_it ? task : 0;
}
