/* Loaded into CRIU. Replaces the C library's function that receives messages: some objects are shown as others. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>

#include "calls.h"
#include "objects/objects.h"
#include "raw.h"

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  long length = raw_syscall(SYS_recvmsg, fd, (long)message, flags, 0, 0, 0);
  if (length > 0 && !restores() && message->msg_iovlen == 1) {
    show_connections_as_empty(message->msg_iov->iov_base, (size_t)length, message);
    if (flags & MSG_PEEK) length = show_sender_as_bytes(fd, message, length);
  }
  return (ssize_t)with_errno(length);
}
