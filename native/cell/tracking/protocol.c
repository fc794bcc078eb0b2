/* The socket between the holder and whoever tracks. It lies in the directory of a life, which nothing inside can reach.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "holder.h"
#include "shared/owned.h"

#define SOCKET_NAME "tracking.sock"
#define BACKLOG 4
#define PATIENCE_S 1 /* nothing inside is held longer for tracking */

/* The path of a home may be too long for a socket's address. */
static int open_directory(const char *path, struct sockaddr_un *address) {
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/" SOCKET_NAME, fd);
  return fd;
}

int listen_in(const char *directory) {
  struct sockaddr_un address;
  autoclose int at = open_directory(directory, &address);
  autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (at < 0 || fd < 0) return -1;
  if (unlinkat(at, SOCKET_NAME, 0) && errno != ENOENT) return -1;
  mode_t mask = umask(0177);
  int failed = bind(fd, (struct sockaddr *)&address, sizeof address);
  umask(mask);
  if (failed || listen(fd, BACKLOG)) return -1;
  return take_fd(&fd);
}

int connect_in(const char *directory) {
  struct sockaddr_un address;
  autoclose int at = open_directory(directory, &address);
  autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  struct timeval patience = {.tv_sec = PATIENCE_S};
  if (at < 0 || fd < 0) return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)) return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience)) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) return -1;
  return take_fd(&fd);
}

union control {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr align;
};

bool send_packet(int socket, const void *bytes, size_t length, int descriptor) {
  union control control = {0};
  struct iovec part = {(void *)bytes, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)length;
}

ssize_t receive_packet(int socket, void *bytes, size_t length, int *descriptor) {
  union control control;
  struct iovec part = {bytes, length};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  *descriptor = -1;
  if (received < 0) return received;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(head), sizeof *descriptor);
  return received;
}
