/* Calls that return when everything is written or received, however long that takes. Each byte comes once, in order,
 * and the caller learns of all of them. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#define ALL (1 << 20)
#define FEW 256    /* bytes that the other end takes or gives at once */
#define PAUSE 0.02 /* seconds between them, until the snapshots are over */
#define PARTS 3
#define MANY_PARTS 1024

static int ends[2];
static uint8_t all[ALL];
static atomic_bool *is_hasty;

static uint8_t byte_at(size_t i) { return (uint8_t)(i * 7 + i / 4096); }

static void fill(void) {
  for (size_t i = 0; i < ALL; i++) all[i] = byte_at(i);
}

static int check_all(void) {
  for (size_t i = 0; i < ALL; i++)
    if (all[i] != byte_at(i)) return EBADMSG;
  return 0;
}

static int whole(long done) { return done == ALL ? 0 : done < 0 ? errno : EMSGSIZE; }

static void pause_unless_hasty(void) {
  if (!atomic_load(is_hasty)) rest(PAUSE);
}

/* Takes what the call writes, slowly. EBADMSG if it is something else. */
static int takes(void) {
  uint8_t few[FEW];
  for (size_t at = 0; at < ALL;) {
    long got = read(ends[0], few, sizeof few);
    if (got <= 0) return errno ? errno : EPIPE;
    for (long i = 0; i < got; i++)
      if (few[i] != byte_at(at++)) return EBADMSG;
    pause_unless_hasty();
  }
  return 0;
}

/* Gives what the call receives, slowly. */
static int gives(void) {
  fill();
  for (size_t at = 0; at < ALL; at += FEW) {
    if (send(ends[1], all + at, FEW, 0) != FEW) return errno;
    pause_unless_hasty();
  }
  return 0;
}

static void check_end(const char *who, pid_t child) {
  int end = end_of(child);
  if (end) notice("%s ended with %s", who, strerror(end));
}

/* CALL is made in one child while OTHER works slowly in another. */
static void run_slowly(int (*call)(void), int (*other)(void)) {
  is_hasty = mmap(NULL, sizeof *is_hasty, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t caller = start(call), partner = start(other);
  rest(0.1);
  hold();
  atomic_store(is_hasty, true);
  check_end("the call", caller);
  if (!has_noticed()) check_end("the other end", partner);
}

static void make_sockets(void) { MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends)); }

static int writes(void) {
  fill();
  return whole(write(ends[1], all, ALL));
}
static void write_pipe(void) {
  MUST(pipe(ends));
  run_slowly(writes, takes);
}
static void write_socket(void) {
  make_sockets();
  run_slowly(writes, takes);
}

/* Raw: the terminal passes bytes on as they are. */
static void write_terminal(void) {
  struct termios raw;
  MUST(openpty(&ends[0], &ends[1], NULL, NULL, NULL));
  MUST(tcgetattr(ends[1], &raw));
  cfmakeraw(&raw);
  MUST(tcsetattr(ends[1], TCSANOW, &raw));
  run_slowly(writes, takes);
}

static int sends(void) {
  fill();
  return whole(send(ends[1], all, ALL, 0));
}
static void send_slowly(void) {
  make_sockets();
  run_slowly(sends, takes);
}

static void split(struct iovec parts[PARTS]) {
  const size_t first = 1000, second = ALL / 2;
  parts[0] = (struct iovec){all, first};
  parts[1] = (struct iovec){all + first, second};
  parts[2] = (struct iovec){all + first + second, ALL - first - second};
}

static int writes_parts(void) {
  struct iovec parts[PARTS];
  fill();
  split(parts);
  return whole(writev(ends[1], parts, PARTS));
}
static void write_parts(void) {
  MUST(pipe(ends));
  run_slowly(writes_parts, takes);
}

static int sends_message(void) {
  struct iovec parts[PARTS];
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = PARTS};
  fill();
  split(parts);
  return whole(sendmsg(ends[1], &message, 0));
}
static void send_message(void) {
  make_sockets();
  run_slowly(sends_message, takes);
}

static int receives(void) {
  int end = whole(recv(ends[0], all, ALL, MSG_WAITALL));
  return end ? end : check_all();
}
static void receive_all(void) {
  make_sockets();
  run_slowly(receives, gives);
}

static int receives_message(void) {
  struct iovec parts[PARTS];
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = PARTS};
  split(parts);
  int end = whole(recvmsg(ends[0], &message, MSG_WAITALL));
  return end ? end : check_all();
}
static void receive_message(void) {
  make_sockets();
  run_slowly(receives_message, gives);
}

static int sends_file(void) {
  int file = memfd_create("all", 0);
  fill();
  if (file < 0 || write(file, all, ALL) != ALL || lseek(file, 0, SEEK_SET)) return errno;
  return whole(sendfile(ends[1], file, NULL, ALL));
}
static void send_file(void) {
  make_sockets();
  run_slowly(sends_file, takes);
}

static int writes_many_parts(void) {
  struct iovec parts[MANY_PARTS];
  fill();
  for (size_t i = 0; i < MANY_PARTS; i++) parts[i] = (struct iovec){all + i * (ALL / MANY_PARTS), ALL / MANY_PARTS};
  return whole(writev(ends[1], parts, MANY_PARTS));
}
static void write_many_parts(void) {
  MUST(pipe(ends));
  run_slowly(writes_many_parts, takes);
}

static void send_in_time(void) {
  struct timeval limit = {.tv_sec = 600};
  make_sockets();
  MUST(setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
  run_slowly(sends, takes);
}

const struct program whole_call_programs[] = {
    {"pipe-write", write_pipe},        {"socket-write", write_socket},     {"terminal-write", write_terminal},
    {"send-whole", send_slowly},       {"writev-whole", write_parts},      {"sendmsg-whole", send_message},
    {"receive-whole", receive_all},    {"recvmsg-whole", receive_message}, {"sendfile-whole", send_file},
    {"writev-many", write_many_parts}, {"send-in-time", send_in_time},     {0},
};
