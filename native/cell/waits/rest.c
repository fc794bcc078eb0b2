/* Calls that write or receive everything before they return, unless they are stopped. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shared/owned.h"
#include "stub.h"
#include "waits.h"

#if defined(__x86_64__)

#define MOST_PARTS 1024

/* How a call says what to write, or where to put what it receives. */
enum shape { OTHER, BUFFER, PARTS, MESSAGE };

static enum shape shape_of(long number) {
  switch (number) {
    case SYS_write:
    case SYS_sendto:
    case SYS_recvfrom: return BUFFER;
    case SYS_writev: return PARTS;
    case SYS_sendmsg:
    case SYS_recvmsg: return MESSAGE;
    default: return OTHER;
  }
}

static bool receives(long number) { return number == SYS_recvfrom || number == SYS_recvmsg; }

static int flags_of(const registers *regs, long number) {
  switch (shape_of(number)) {
    case BUFFER: return number == SYS_write ? 0 : (int)regs->r10;
    case MESSAGE: return (int)regs->rdx;
    default: return 0;
  }
}

/* A file is always written whole, and a datagram has its own end. TCP is left alone: after a stop of seconds, a
 * connection with full windows in both directions came to rest when its calls were continued (measured, not explained).
 */
static bool is_stream(int fd) {
  struct stat found;
  int type = 0, domain = 0;
  socklen_t size = sizeof type;
  if (fstat(fd, &found)) return false;
  if (S_ISCHR(found.st_mode)) return isatty(fd);
  if (!S_ISSOCK(found.st_mode)) return S_ISFIFO(found.st_mode);
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_UNIX) return false;
  return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM;
}

/* Whether the call returns less than it was asked for only if it is stopped, or at an end or error that its rest meets
 * again. */
static bool does_all(pid_t process, const registers *regs, long number) {
  int flags = flags_of(regs, number);
  if (flags & (MSG_DONTWAIT | MSG_PEEK)) return false;
  if (receives(number) && !(flags & MSG_WAITALL)) return false;
  autoclose int fd = borrow_descriptor(process, (int)regs->rdi);
  return fd >= 0 && !(fcntl(fd, F_GETFL) & O_NONBLOCK) && is_stream(fd);
}

/* What a call still has to do: parts of the program's memory. */
struct rest {
  struct iovec parts[MOST_PARTS];
  size_t first, count;
};

static int read_parts(pid_t process, const registers *regs, enum shape shape, struct rest *rest) {
  struct error ignored;
  struct msghdr message = {.msg_iov = (struct iovec *)regs->rsi, .msg_iovlen = regs->rdx};
  rest->first = 0;
  if (shape == BUFFER) {
    rest->count = 1;
    rest->parts[0] = (struct iovec){(void *)regs->rsi, regs->rdx};
    return 0;
  }
  if (shape == MESSAGE && read_memory(process, regs->rsi, &message, sizeof message, &ignored)) return -1;
  if (message.msg_iovlen > MOST_PARTS) return -1;
  rest->count = message.msg_iovlen;
  return read_memory(process, (uint64_t)message.msg_iov, rest->parts, rest->count * sizeof *rest->parts, &ignored);
}

/* False if nothing is left. */
static bool skip(struct rest *rest, uint64_t done) {
  for (; rest->first < rest->count; rest->first++) {
    struct iovec *part = &rest->parts[rest->first];
    if (part->iov_len > done) {
      part->iov_base = (char *)part->iov_base + done;
      part->iov_len -= done;
      return true;
    }
    done -= part->iov_len;
  }
  return false;
}

/* Has the call do only the rest. What else came with a message was with its first part. */
static bool set_rest(registers *regs, enum shape shape, const struct rest *rest, struct sum_frame *frame, uint64_t at) {
  const struct iovec *parts = rest->parts + rest->first;
  size_t count = rest->count - rest->first, size = count * sizeof *parts;
  uint64_t room = at + offsetof(struct sum_frame, room);
  struct msghdr message = {.msg_iov = (struct iovec *)(room + sizeof message), .msg_iovlen = count};
  if (shape == BUFFER) {
    regs->rsi = (uint64_t)parts->iov_base;
    regs->rdx = parts->iov_len;
    return true;
  }
  size_t before = shape == MESSAGE ? sizeof message : 0;
  if (before + size > sizeof frame->room) return false;
  memcpy(frame->room, &message, before);
  memcpy(frame->room + before, parts, size);
  regs->rsi = room;
  if (shape == PARTS) regs->rdx = count;
  return true;
}

/* A call that was cut short before is in our code already, and has its frame. */
static int find_frame(struct process *process, pid_t thread, const registers *regs, struct sum_frame *frame,
                      uint64_t *at, uint64_t *code) {
  struct error ignored;
  *code = code_around(process->pid, regs->rip);
  if (*code) {
    *at = regs->rsp;
    return regs->rip == *code + SUM + CALL_LENGTH ? read_memory(process->pid, *at, frame, sizeof *frame, &ignored) : -1;
  }
  if (require_code(process, thread, code, &ignored)) return -1;
  *at = regs->rsp - RED_ZONE - sizeof *frame;
  *frame = (struct sum_frame){.rdi = regs->rdi,
                              .rsi = regs->rsi,
                              .rdx = regs->rdx,
                              .r10 = regs->r10,
                              .r8 = regs->r8,
                              .r9 = regs->r9,
                              .next = *code + RETURN,
                              .back = regs->rip};
  return 0;
}

bool continue_rest(struct process *process, pid_t thread, const registers *regs, const struct wait *wait) {
  static struct rest rest;
  registers next = *regs;
  struct sum_frame frame;
  struct error ignored;
  uint64_t at, code;
  enum shape shape = shape_of(wait->number);
  /* With a time limit, the rest would begin it anew. */
  if (shape == OTHER || RESULT(regs) <= 0 || regs->rip != wait->instruction || wait->left >= 0) return false;
  if (!does_all(process->pid, regs, wait->number) || read_parts(process->pid, regs, shape, &rest)) return false;
  if (!skip(&rest, regs->rax)) return false;
  if (find_frame(process, thread, regs, &frame, &at, &code)) return false;
  frame.done += regs->rax;
  if (!set_rest(&next, shape, &rest, &frame, at)) return false;
  if (write_memory(process->pid, at, &frame, sizeof frame, &ignored)) return false;
  run_code(&next, code + SUM, wait->number, at);
  return !set_registers(thread, &next, &ignored);
}

#else

bool continue_rest(struct process *process, pid_t thread, const registers *regs, const struct wait *wait) {
  (void)process, (void)thread, (void)regs, (void)wait;
  return false;
}

#endif
