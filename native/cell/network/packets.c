/* The size of the packets that restored TCP connections send. CRIU connects a socket without asking the other end, so
 * the kernel assumes that it takes only the smallest packets, of 536 bytes. CRIU then sets what both ends had agreed
 * on, but the kernel looks at that again only upon certain changes. Such packets take many times the memory of the data
 * in them: the other end runs out of it, drops what it had promised to take, and both may wait for ever.
 *
 * With IPv4, setting the IP options of a socket is such a change. With IPv6 it is another MTU than the one with which
 * the socket was connected; its sysctl tells nobody that it was changed. Connections to outside have IPv4. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network.h"
#include "report.h"
#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define LESS 8          /* any other MTU does */
#define OPTIONS_SIZE 40 /* of IP, at most */

static const char mtu_v6[] = "/proc/sys/net/ipv6/conf/lo/mtu";

static long usual_mtu; /* 0: there is no IPv6 */

static void set_mtu(long mtu) {
  autoclose int fd = open(mtu_v6, O_WRONLY | O_CLOEXEC);
  if (fd < 0) die("open '%s'", mtu_v6);
  if (dprintf(fd, "%ld", mtu) < 0) die("write %ld to '%s'", mtu, mtu_v6);
}

void lower_mtu(void) {
  char text[32] = "";
  autoclose int fd = open(mtu_v6, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return;
  if (fd < 0) die("open '%s'", mtu_v6);
  if (read(fd, text, sizeof text - 1) < 0) die("read '%s'", mtu_v6);
  usual_mtu = strtol(text, NULL, 10);
  set_mtu(usual_mtu - LESS);
}

void put_mtu_back(void) {
  if (usual_mtu) set_mtu(usual_mtu);
}

int put_segments(const struct target *target, const char *value) {
  (void)value;
  char options[OPTIONS_SIZE];
  socklen_t length = sizeof options;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0 || getsockopt(fd, IPPROTO_IP, IP_OPTIONS, options, &length)) return errno;
  return setsockopt(fd, IPPROTO_IP, IP_OPTIONS, options, length) ? errno : 0;
}
