#include "io.h"

#include <errno.h>
#include <unistd.h>

bool write_all(int fd, const void *bytes, size_t length) {
  for (size_t used = 0; used < length;) {
    ssize_t n = write(fd, (const char *)bytes + used, length - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    used += (size_t)n;
  }
  return true;
}

bool read_all(int fd, void *to, size_t length) {
  for (size_t used = 0; used < length;) {
    ssize_t n = read(fd, (char *)to + used, length - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    used += (size_t)n;
  }
  return true;
}
