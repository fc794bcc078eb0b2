/* Descriptors and memory that are released at the end of their scope. Neither changes errno. */
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *pointer) { free(*(void **)pointer); }

static inline void cleanup_close(int *fd) {
  int code = errno;
  if (*fd >= 0) close(*fd);
  errno = code;
}

#define autofree __attribute__((cleanup(cleanup_free)))
#define autoclose __attribute__((cleanup(cleanup_close)))

/* Hands an owned descriptor on: the caller's variable no longer closes it. */
static inline int take_fd(int *fd) {
  int taken = *fd;
  *fd = -1;
  return taken;
}

static inline void *take_pointer(void *pointer) {
  void *taken = *(void **)pointer;
  *(void **)pointer = NULL;
  return taken;
}
