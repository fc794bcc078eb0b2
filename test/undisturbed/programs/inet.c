#define _GNU_SOURCE
#include "inet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "program.h"

struct sockaddr_storage loopback(int family, int port) {
  struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
  if (family == AF_INET)
    *(struct sockaddr_in *)&address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  else
    *(struct sockaddr_in6 *)&address = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_loopback};
  return address;
}

socklen_t length_of(const struct sockaddr_storage *address) {
  return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

int bound_to_loopback(int family, int type) {
  struct sockaddr_storage any = loopback(family, 0);
  int fd = MUST(socket(family, type, 0));
  MUST(bind(fd, (struct sockaddr *)&any, length_of(&any)));
  return fd;
}

struct sockaddr_storage name_of(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  MUST(getsockname(fd, (struct sockaddr *)&address, &length));
  return address;
}

int connect_to(struct sockaddr_storage address, int type) {
  int fd = MUST(socket(address.ss_family, type, 0));
  return connect(fd, (struct sockaddr *)&address, length_of(&address)) < 0 ? -1 : fd;
}

int connection(int family, int ends[2]) {
  int listener = bound_to_loopback(family, SOCK_STREAM);
  MUST(listen(listener, 16));
  ends[0] = MUST(connect_to(name_of(listener), SOCK_STREAM));
  ends[1] = MUST(accept(listener, NULL, NULL));
  return listener;
}

void fill(unsigned char *bytes, size_t length, unsigned long *at) {
  for (size_t i = 0; i < length; i++, ++*at) bytes[i] = (unsigned char)(*at % 251);
}

void check(const unsigned char *bytes, size_t length, unsigned long *at) {
  for (size_t i = 0; i < length; i++, ++*at) {
    if (bytes[i] == *at % 251) continue;
    notice("byte %lu is another", *at);
    return;
  }
}

void expect_text(int fd, const char *text) {
  char bytes[256] = "";
  struct pollfd in = {.fd = fd, .events = POLLIN};
  poll(&in, 1, 3000);
  ssize_t got = recv(fd, bytes, sizeof bytes - 1, MSG_DONTWAIT);
  if (got < 0)
    notice("instead of \"%s\": %s", text, strerror(errno));
  else
    same_text("what came", text, bytes);
}

void expect_carries(int one, int other) {
  EXPECT(send(one, "there", 5, MSG_NOSIGNAL) == 5);
  expect_text(other, "there");
  EXPECT(send(other, "back", 4, MSG_NOSIGNAL) == 4);
  expect_text(one, "back");
}

int option_of(int fd, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  MUST(getsockopt(fd, level, option, &value, &length));
  return value;
}
