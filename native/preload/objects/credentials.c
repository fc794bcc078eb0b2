/* Messages in Unix sockets that say who sent them, for receivers that ask (SO_PASSCRED). CRIU refuses them, so it does
 * not see that. The sender becomes the end of the message as CRIU dumps it, and a restore takes it off again and sends
 * the message in that sender's name. A message that ends in the same way by itself gets another such end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "preload/raw.h"

#define PIDFD 0x04 /* SCM_PIDFD, missing in older headers */
#define MOST_CONTROL 2048

static const uint8_t mark[16] = "\x9d\x1f\xe3 sender \xc2\x07\xb8\x51\xee";

struct sender {
  uint32_t is_known, pid, uid, gid; /* as inside */
  uint8_t mark[sizeof mark];
};

static bool ends_with_mark(const uint8_t *bytes, size_t length) {
  return length >= sizeof mark && !memcmp(bytes + length - sizeof mark, mark, sizeof mark);
}

/* 0: it has ended. */
static uint32_t pid_inside(pid_t pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = 0;
  const char *line = strstr(text, "\nNStgid:"), *end = line ? strchr(line + 1, '\n') : NULL;
  if (!end) return 0;
  while (end[-1] >= '0' && end[-1] <= '9') end--;
  return (uint32_t)strtoul(end, NULL, 10);
}

static struct sender sender_of(const struct ucred *from) {
  struct sender sender = {0};
  if (from->pid) {
    sender.pid = pid_inside(from->pid);
    sender.is_known = id_inside("uid_map", from->uid, &sender.uid) && id_inside("gid_map", from->gid, &sender.gid);
  }
  memcpy(sender.mark, mark, sizeof mark);
  return sender;
}

/* Leaves only descriptors in the control part. */
static void take_control(struct msghdr *message, struct sender *sender) {
  static union {
    struct cmsghdr header;
    char bytes[MOST_CONTROL];
  } kept;
  size_t length = 0;
  for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
    bool is_socket = one->cmsg_level == SOL_SOCKET;
    if (is_socket && one->cmsg_type == SCM_CREDENTIALS) *sender = sender_of((struct ucred *)CMSG_DATA(one));
    if (is_socket && one->cmsg_type == PIDFD && *(int *)CMSG_DATA(one) >= 0) close(*(int *)CMSG_DATA(one));
    size_t space = CMSG_SPACE(one->cmsg_len - CMSG_LEN(0));
    if (!is_socket || one->cmsg_type != SCM_RIGHTS || length + space > sizeof kept) continue;
    memcpy(kept.bytes + length, one, one->cmsg_len);
    length += space;
  }
  memcpy(message->msg_control, kept.bytes, length < message->msg_controllen ? length : message->msg_controllen);
  message->msg_controllen = length;
}

/* Takes back so many bytes at the end, so that the next look begins with them. */
static bool look_less(int fd, long bytes) {
  int offset = 0, type = 0;
  socklen_t size = sizeof offset;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM) return false;
  if (getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, &size) || offset < bytes) return false;
  offset -= (int)bytes;
  return !setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset);
}

long show_sender_as_bytes(int fd, struct msghdr *message, long length) {
  struct sender sender = {0};
  size_t room = message->msg_iov->iov_len;
  uint8_t *bytes = message->msg_iov->iov_base;
  if (message->msg_flags & MSG_CTRUNC) return -EOVERFLOW;
  if (message->msg_controllen) take_control(message, &sender);
  if (!sender.is_known && !ends_with_mark(bytes, (size_t)length)) return length;
  memcpy(sender.mark, mark, sizeof mark);
  long over = length + (long)sizeof sender - (long)room;
  if (over > 0 && (over >= length || !look_less(fd, over))) return -EOVERFLOW;
  if (over > 0) length -= over;
  memcpy(bytes + length, &sender, sizeof sender);
  return length + (long)sizeof sender;
}

static size_t add_control(const struct sender *sender, const struct msghdr *message, char *control) {
  struct ucred from = {sender->pid ? (pid_t)sender->pid : getpid(), sender->uid, sender->gid};
  struct cmsghdr header = {CMSG_LEN(sizeof from), SOL_SOCKET, SCM_CREDENTIALS};
  size_t length = message->msg_control ? message->msg_controllen : 0;
  if (length + CMSG_SPACE(sizeof from) > MOST_CONTROL) return 0;
  memset(control, 0, MOST_CONTROL);
  if (length) memcpy(control, message->msg_control, length);
  memcpy(control + length, &header, sizeof header);
  memcpy(control + length + CMSG_LEN(0), &from, sizeof from);
  return length + CMSG_SPACE(sizeof from);
}

long send_as_sender(int fd, const struct msghdr *message, int flags) {
  struct sender sender;
  char control[MOST_CONTROL] __attribute__((aligned(sizeof(size_t))));
  const struct iovec *all = message->msg_iov;
  if (message->msg_iovlen != 1 || all->iov_len < sizeof sender || !ends_with_mark(all->iov_base, all->iov_len))
    return 0;
  struct iovec part = {all->iov_base, all->iov_len - sizeof sender};
  struct msghdr own = *message;
  memcpy(&sender, (char *)all->iov_base + part.iov_len, sizeof sender);
  own.msg_iov = &part;
  if (sender.is_known) {
    own.msg_control = control;
    if (!(own.msg_controllen = add_control(&sender, message, control))) return -EOVERFLOW;
  }
  long sent = raw_syscall(SYS_sendmsg, fd, (long)&own, flags, 0, 0, 0);
  return sent < 0 ? sent : sent + (long)sizeof sender;
}
