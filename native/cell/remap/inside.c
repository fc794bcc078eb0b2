/* A stopped process that gets a descriptor of ours for a moment. */
#define _GNU_SOURCE
#include "remap.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "shared/owned.h"

int call_inside(const struct inside *inside, const char *what, long number, const uint64_t arguments[6], long *result,
                struct error *error) {
  if (inject_syscall(inside->group, inside->thread, number, arguments, result, error)) return -1;
  if (*result >= 0 || *result < -4095) return 0;
  return error_set(error, (int)-*result, "%s in pid %d", what, inside->process->pid);
}

static void close_inside(const struct inside *inside, int number) {
  struct error error;
  long ignored;
  if (call_inside(inside, "close", SYS_close, (uint64_t[6]){(uint64_t)number}, &ignored, &error))
    fprintf(stderr, "pid %d keeps descriptor %d: %s\n", inside->process->pid, number, error.text);
}

static int take_out(pid_t pid, int number) {
  autoclose int process = (int)syscall(SYS_pidfd_open, pid, 0);
  return process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
}

union control {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr header;
};

static int send_file(int socket, int fd) {
  char byte = 0;
  struct iovec part = {&byte, sizeof byte};
  union control control = {0};
  control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* What recvmsg reads and writes, in the page inside. */
struct letter {
  struct msghdr message;
  struct iovec part;
  union control control;
  char byte;
};

#define INSIDE(member) ((void *)(uintptr_t)(inside->scratch + offsetof(struct letter, member)))

static int receive_file(struct inside *inside, int socket, struct error *error) {
  struct letter letter = {.message = {.msg_iov = INSIDE(part),
                                      .msg_iovlen = 1,
                                      .msg_control = INSIDE(control),
                                      .msg_controllen = sizeof letter.control},
                          .part = {INSIDE(byte), 1}};
  uint64_t arguments[6] = {(uint64_t)socket, inside->scratch, MSG_DONTWAIT | MSG_CMSG_CLOEXEC};
  pid_t pid = inside->process->pid;
  long ignored;
  if (write_memory(pid, inside->scratch, &letter, sizeof letter, error)) return -1;
  if (call_inside(inside, "recvmsg", SYS_recvmsg, arguments, &ignored, error)) return -1;
  if (read_memory(pid, inside->scratch, &letter, sizeof letter, error)) return -1;
  if (letter.message.msg_controllen < CMSG_LEN(sizeof inside->file))
    return error_refuse(error, 0, "pid %d has no room for a descriptor", pid);
  memcpy(&inside->file, CMSG_DATA(&letter.control.header), sizeof inside->file);
  return 0;
}

static int pass_through(struct inside *inside, const int ends[2], int fd, struct error *error) {
  autoclose int socket = take_out(inside->process->pid, ends[1]);
  if (socket < 0) return error_set(error, errno, "pidfd_getfd of pid %d", inside->process->pid);
  if (send_file(socket, fd)) return error_set(error, errno, "sendmsg to pid %d", inside->process->pid);
  return receive_file(inside, ends[0], error);
}

static int pass_file(struct inside *inside, int fd, struct error *error) {
  uint64_t arguments[6] = {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, inside->scratch};
  long ignored;
  int ends[2];
  if (call_inside(inside, "socketpair", SYS_socketpair, arguments, &ignored, error)) return -1;
  if (read_memory(inside->process->pid, inside->scratch, ends, sizeof ends, error)) return -1;
  int failed = pass_through(inside, ends, fd, error);
  for (int i = 0; i < 2; i++) close_inside(inside, ends[i]);
  return failed;
}

static void drop_scratch(const struct inside *inside) {
  struct error ignored;
  long none;
  call_inside(inside, "munmap", SYS_munmap, (uint64_t[6]){inside->scratch, PAGE_BYTES}, &none, &ignored);
}

int enter(struct inside *inside, int fd, struct error *error) {
  uint64_t arguments[6] = {0, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1};
  long scratch;
  if (call_inside(inside, "mmap", SYS_mmap, arguments, &scratch, error)) return -1;
  inside->scratch = (uint64_t)scratch;
  if (!pass_file(inside, fd, error)) return 0;
  drop_scratch(inside);
  return -1;
}

void leave(const struct inside *inside) {
  close_inside(inside, inside->file);
  drop_scratch(inside);
}
