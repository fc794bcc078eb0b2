/* The size of the packets that restored TCP connections send. CRIU connects a socket without asking the other end, so
 * the kernel assumes that it takes only the smallest packets, of 536 bytes. CRIU then sets what both ends had agreed
 * on, but the kernel looks at that again only when it finds that the MTU has changed. Such packets take many times the
 * memory of the data in them: the other end runs out of it, drops what it had promised to take, and both may wait for
 * ever. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "network.h"
#include "report.h"
#include "shared/owned.h"

#define LESS 8 /* any other MTU does */

static const char *const interfaces[] = {"lo", INSIDE_INTERFACE};
#define COUNT (sizeof interfaces / sizeof *interfaces)

static int usual[COUNT]; /* 0: there is none */

static struct ifreq named(const char *interface) {
  struct ifreq r = {0};
  strncpy(r.ifr_name, interface, sizeof r.ifr_name - 1);
  return r;
}

void lower_mtus(void) {
  autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket AF_INET");
  for (size_t i = 0; i < COUNT; i++) {
    struct ifreq r = named(interfaces[i]);
    if (ioctl(fd, SIOCGIFMTU, &r)) {
      if (errno == ENODEV) continue;
      die("ioctl SIOCGIFMTU of '%s'", interfaces[i]);
    }
    usual[i] = r.ifr_mtu;
    /* One above 65535 counts as 65535. */
    r.ifr_mtu = (r.ifr_mtu < UINT16_MAX ? r.ifr_mtu : UINT16_MAX) - LESS;
    if (ioctl(fd, SIOCSIFMTU, &r)) die("ioctl SIOCSIFMTU of '%s'", interfaces[i]);
  }
}

void put_mtus_back(void) {
  autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket AF_INET");
  for (size_t i = 0; i < COUNT; i++) {
    if (!usual[i]) continue;
    struct ifreq r = named(interfaces[i]);
    r.ifr_mtu = usual[i];
    if (ioctl(fd, SIOCSIFMTU, &r)) die("ioctl SIOCSIFMTU of '%s'", interfaces[i]);
  }
}
