/* Memory of another process. What lies there is its own business and can change or vanish at any time. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "stopped.h"

/* The memory may end within the range, and then a part of it is copied. */
static int require_whole(ssize_t copied, size_t size, const char *call, pid_t pid, struct error *error) {
  if (copied < 0) return error_set(error, errno, "%s of pid %d", call, pid);
  if ((size_t)copied == size) return 0;
  return error_refuse(error, 0, "%s of pid %d copied %zd of %zu bytes", call, pid, copied, size);
}

int read_memory(pid_t pid, uint64_t at, void *own, size_t size, struct error *error) {
  struct iovec ours = {own, size}, theirs = {(void *)(uintptr_t)at, size};
  return require_whole(process_vm_readv(pid, &ours, 1, &theirs, 1, 0), size, "process_vm_readv", pid, error);
}

int write_memory(pid_t pid, uint64_t at, const void *own, size_t size, struct error *error) {
  struct iovec ours = {(void *)own, size}, theirs = {(void *)(uintptr_t)at, size};
  return require_whole(process_vm_writev(pid, &ours, 1, &theirs, 1, 0), size, "process_vm_writev", pid, error);
}

/* AT_SYSINFO_EHDR of the auxiliary vector would be cheaper, but the program can have moved the page since, as CRIU
 * does. */
bool find_vdso(pid_t pid, uint64_t *start, uint64_t *end) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "re");
  bool found = false;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    const char *name = strstr(line, "[vdso]\n");
    found = name && !strchr(line, '/') && sscanf(line, "%lx-%lx", start, end) == 2;
  }
  if (maps) fclose(maps);
  return found && *end > *start;
}
