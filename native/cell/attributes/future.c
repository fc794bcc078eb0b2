/* mlockall with MCL_FUTURE: what a process maps from now on is locked, too. The kernel has this in its own memory, and
 * tells it nowhere. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "attributes.h"
#include "kernel.h"
#include "proc.h"

/* Flags of areas, in `mm_struct`. */
#define LOCKED 0x2000
#define LOCKED_ON_FAULT 0x80000

/* Only then is it worth a look at the kernel's memory. */
static bool has_locked(pid_t process) {
  char text[4096];
  const char *line = read_proc(process, process, "status", text, sizeof text) ? strstr(text, "\nVmLck:") : NULL;
  return line && strtoul(line + strlen("\nVmLck:"), NULL, 10);
}

void note_future(FILE *to, pid_t process, int inside) {
  uint64_t flags;
  if (!has_locked(process)) return;
  struct kernel *kernel = require_kernel();
  uint64_t task = kernel ? address_of_process(kernel, process) : 0;
  uint64_t memory = task ? read_pointer(kernel, task, "task_struct", "mm") : 0;
  if (!memory || !read_number_at(kernel, memory, "mm_struct", "def_flags", 8, &flags))
    fprintf(to, "future-lost %d %d -\n", inside, inside);
  else if (flags & LOCKED)
    fprintf(to, "locked-future %d %d %d\n", inside, inside, MCL_FUTURE | (flags & LOCKED_ON_FAULT ? MCL_ONFAULT : 0));
}

/* Without MCL_CURRENT, nothing that is there changes. */
int put_future(const struct target *target, const char *value) {
  unsigned long flags;
  if (!parse_number(value, MCL_FUTURE | MCL_ONFAULT, &flags) || !(flags & MCL_FUTURE) || flags & MCL_CURRENT)
    return EINVAL;
  return make_inside(target, SYS_mlockall, (uint64_t[6]){flags});
}
