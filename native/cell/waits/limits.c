/* How long threads may wait. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "shared/owned.h"
#include "waits.h"

#define MOST_SECONDS (1LL << 33) /* longer than anybody waits; nanoseconds of it fit into 64 bits */

/* A timespec or timeval. */
struct pair {
  int64_t seconds, parts;
};

static int64_t nanoseconds_in(const struct pair *pair, int64_t parts_per_second) {
  if (pair->seconds < 0 || pair->seconds > MOST_SECONDS) return -1;
  if (pair->parts < 0 || pair->parts >= parts_per_second) return -1;
  return pair->seconds * 1000000000 + pair->parts * (1000000000 / parts_per_second);
}

static int64_t parts_in(enum limit limit) { return limit == TIME_LEFT ? 1000000 : 1000000000; }

static int64_t read_span(pid_t process, uint64_t at, int64_t parts) {
  struct pair pair;
  struct error ignored;
  return read_memory(process, at, &pair, sizeof pair, &ignored) ? -1 : nanoseconds_in(&pair, parts);
}

int borrow_descriptor(pid_t process, int number) {
  autoclose int handle = (int)syscall(SYS_pidfd_open, process, 0);
  return handle < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, handle, number, 0);
}

/* -1: it has no limit, or is no socket. */
static int64_t limit_of_socket(pid_t process, int number, int option) {
  struct timeval limit;
  socklen_t size = sizeof limit;
  autoclose int socket = borrow_descriptor(process, number);
  if (socket < 0 || getsockopt(socket, SOL_SOCKET, option, &limit, &size)) return -1;
  if (!limit.tv_sec && !limit.tv_usec) return -1;
  return nanoseconds_in(&(struct pair){limit.tv_sec, limit.tv_usec}, 1000000);
}

/* From the start of the call. */
static int64_t whole_limit(pid_t process, const struct wait *wait) {
  uint64_t argument = wait->arguments[wait->call.argument];
  switch (wait->call.limit) {
    case MILLISECONDS: return (int64_t)(int)argument * 1000000;
    case SPAN: return read_span(process, argument, parts_in(SPAN));
    case RECEIVING: return limit_of_socket(process, (int)argument, SO_RCVTIMEO);
    case SENDING: return limit_of_socket(process, (int)argument, SO_SNDTIMEO);
    default: return -1;
  }
}

/* Where the kernel has put what was left when the call was interrupted, or 0. */
static uint64_t rest_of(const struct wait *wait) { return wait->call.rest < 0 ? 0 : wait->arguments[wait->call.rest]; }

bool depends_on_start(pid_t process, const struct wait *wait) {
  return !rest_of(wait) && whole_limit(process, wait) >= 0;
}

int64_t left_of(pid_t process, const struct wait *wait, uint64_t frozen) {
  uint64_t rest = wait->call.limit == SPAN ? rest_of(wait) : 0;
  if (rest) return read_span(process, rest, parts_in(SPAN));
  int64_t whole = whole_limit(process, wait);
  if (whole < 0) return -1;
  int64_t gone = wait->asleep && wait->asleep < frozen ? (int64_t)(frozen - wait->asleep) : 0;
  return whole > gone ? whole - gone : 0;
}

void shorten_left(pid_t process, const struct wait *wait, uint64_t passed) {
  int64_t parts = parts_in(wait->call.limit);
  uint64_t at = wait->arguments[wait->call.argument];
  struct error ignored;
  int64_t left = read_span(process, at, parts);
  if (left < 0) return;
  left = left > (int64_t)passed ? left - (int64_t)passed : 0;
  struct pair pair = {left / 1000000000, left % 1000000000 / (1000000000 / parts)};
  write_memory(process, at, &pair, sizeof pair, &ignored); /* if it fails, the call lasts as much longer */
}
