/* Loaded into CRIU: TCP_REPAIR without traces.
 *
 * Where CRIU takes a TCP socket out of repair mode, the kernel sends a window probe. The environment
 * goes on as if nothing had happened, so there is nothing to probe: the answers change the windows of its connections,
 * and complete one that TCP_DEFER_ACCEPT holds back. In a restore the other end may not exist yet, and the answer is a
 * reset. The processes themselves send a probe when all of them are restored. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "calls.h"
#include "raw.h"

#define PAGE 4096

static const int off_without_probe = -1; /* the kernel's TCP_REPAIR_OFF_NO_WP, since 4.19 */

static int turns_repair_off(int level, int option, const void *value, socklen_t length) {
  return level == IPPROTO_TCP && option == TCP_REPAIR && length == sizeof(int) && !*(const int *)value;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
  if (turns_repair_off(level, option, value, length)) value = &off_without_probe;
  return (int)with_errno(raw_syscall(SYS_setsockopt, fd, level, option, (long)value, length, 0));
}

/* So that the kernel need not find memory while it holds the socket. */
static void touch(char *bytes, size_t length) {
  for (size_t at = 0; at < length; at += PAGE) ((volatile char *)bytes)[at] = 0;
}

/* CRIU reads the queue of what a socket has to send, and leaves that queue selected. Until it is done with all others,
 * any packet that comes would make the kernel take everything in the queue for sent, without sending it. Then the
 * environment would wait for a retransmission. Nobody needs the queue any more once it was read. */
ssize_t recv(int fd, void *bytes, size_t length, int flags) {
  static const int none = 0; /* TCP_NO_QUEUE */
  int looks = flags == (MSG_PEEK | MSG_DONTWAIT) && !restores();
  if (looks) touch(bytes, length);
  long result = raw_syscall(SYS_recvfrom, fd, (long)bytes, (long)length, flags, 0, 0);
  if (looks) raw_syscall(SYS_setsockopt, fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, (long)&none, sizeof none, 0);
  return with_errno(result);
}
