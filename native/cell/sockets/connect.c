/* Makes connections again that nobody has accepted, and puts back what was sent through them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define FILE_OF_SOCKET 0x89E0 /* SIOCUNIXFILE */

static bool read_owner(pid_t process, struct ucred *owner) {
  char path[64], line[256];
  bool has_user = false, has_group = false;
  *owner = (struct ucred){.pid = process};
  snprintf(path, sizeof path, "/proc/%d/status", process);
  FILE *status = fopen(path, "re");
  while (status && !(has_user && has_group) && fgets(line, sizeof line, status)) {
    if (sscanf(line, "Uid: %u", &owner->uid) == 1) has_user = true;
    if (sscanf(line, "Gid: %u", &owner->gid) == 1) has_group = true;
  }
  if (status) fclose(status);
  return has_user && has_group;
}

/* A receiver may ask who has sent it. FROM is NULL for this process. */
static int send_as(int fd, void *bytes, size_t length, const struct ucred *from) {
  struct iovec part = {bytes, length};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof *from)];
  } control = {.header = {CMSG_LEN(sizeof *from), SOL_SOCKET, SCM_CREDENTIALS}};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (from) {
    memcpy(CMSG_DATA(&control.header), from, sizeof *from);
    message.msg_control = &control;
    message.msg_controllen = sizeof control.room;
  }
  ssize_t sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? errno : (size_t)sent == length ? 0 : EMSGSIZE;
}

/* TEXT is hexadecimal, up to a space. */
static int send_text(int fd, const char *text, const struct ucred *from) {
  size_t room = strlen(text) / 2 + 1;
  autofree char *bytes = malloc(room);
  ssize_t length = bytes ? parse_hex(text, bytes, room) : -1;
  return length < 0 ? EINVAL : send_as(fd, bytes, (size_t)length, from);
}

int put_unread(const struct target *target, const char *value) {
  struct ucred owner;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  if (!read_owner(target->process, &owner)) return ESRCH;
  return send_text(fd, value, &owner);
}

int put_shut(const struct target *target, const char *value) {
  unsigned long how;
  if (!parse_number(value, SHUT_RDWR, &how)) return EINVAL;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  return fd < 0 || shutdown(fd, (int)how) ? errno : 0;
}

int put_backlog_lost(const struct target *target, const char *value) {
  (void)value;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  for (int accepted; (accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) close(accepted);
  int code = errno;
  fcntl(fd, F_SETFL, flags);
  return code == EAGAIN ? 0 : code;
}

/* Through the file of the listening socket, which may have been renamed or deleted. */
static int connect_to(int listener, int fd, const struct ucred *owner) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  socklen_t length = sizeof name;
  autoclose int file = ioctl(listener, FILE_OF_SOCKET);
  if (file >= 0)
    snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d", file);
  else if (errno != ENOENT || getsockname(listener, (struct sockaddr *)&name, &length))
    return errno;
  if (syscall(SYS_setgroups, 0, NULL) || setresgid(owner->gid, owner->gid, owner->gid) ||
      setresuid(owner->uid, owner->uid, owner->uid) || prctl(PR_SET_DUMPABLE, 1))
    return errno;
  return connect(fd, (struct sockaddr *)&name, length) ? errno : 0;
}

/* In a process of its own, which enters the network of the copy, and is of the same user as the listener: who the
 * client was is no longer known. */
static int send_queued(const struct target *target, int listener, const char *value) {
  char path[64];
  int type = SOCK_STREAM, code;
  socklen_t length = sizeof type;
  struct ucred owner;
  snprintf(path, sizeof path, "/proc/%d/ns/net", target->process);
  autoclose int network = open(path, O_RDONLY | O_CLOEXEC);
  if (network < 0 || setns(network, CLONE_NEWNET)) return errno;
  if (getsockopt(listener, SOL_SOCKET, SO_TYPE, &type, &length)) return errno;
  autoclose int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  if (!read_owner(target->process, &owner)) return ESRCH;
  if ((code = connect_to(listener, fd, &owner))) return code;
  for (const char *at = value; *at; at += strcspn(at, " "), at += *at == ' ')
    if ((code = send_text(fd, at, NULL))) return code;
  return 0;
}

int put_queued(const struct target *target, const char *value) {
  autoclose int listener = borrow_descriptor(target->process, target->descriptor);
  if (listener < 0) return errno;
  pid_t child = fork();
  if (child < 0) return errno;
  if (!child) _exit(send_queued(target, listener, value));
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}
