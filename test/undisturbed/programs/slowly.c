/* undisturbed slowly FD RATE: copies standard input to standard output, RATE bytes a second until FD ends,
 * and then as fast as it can. The pipe that it reads from is made as small as it can be, so that whoever
 * writes to it is slow as well. */
#define _GNU_SOURCE
#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void write_all(const char *bytes, ssize_t length) {
  while (length > 0) {
    ssize_t done = MUST(write(1, bytes, (size_t)length));
    bytes += done;
    length -= done;
  }
}

int slowly(const char *descriptor, const char *rate) {
  char bytes[4096];
  struct pollfd end = {.fd = atoi(descriptor), .events = POLLIN};
  size_t step = (size_t)atoi(rate) / 50;
  if (step > sizeof bytes) step = sizeof bytes;
  fcntl(0, F_SETPIPE_SZ, 4096);
  for (ssize_t got; (got = MUST(read(0, bytes, step))) > 0;) {
    write_all(bytes, got);
    if (poll(&end, 1, 0) == 0) rest(0.02);
  }
  return 0;
}
