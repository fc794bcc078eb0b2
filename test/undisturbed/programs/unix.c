/* Unix sockets: data and descriptors on their way, names that were moved, connections nobody has accepted. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char bytes[65536];

static struct sockaddr_un address(const char *path) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + (*path == '@'), sizeof name.sun_path - 1, "%s", path + (*path == '@'));
  return name;
}

static int bound(int type, const char *path) {
  struct sockaddr_un name = address(path);
  int fd = MUST(socket(AF_UNIX, type, 0));
  MUST(bind(fd, (struct sockaddr *)&name, sizeof name));
  return fd;
}

static int listening(int type, const char *path) {
  int fd = bound(type, path);
  MUST(listen(fd, 8));
  return fd;
}

static int connected(int type, const char *path) {
  struct sockaddr_un name = address(path);
  int fd = MUST(socket(AF_UNIX, type, 0));
  if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static void expect_message(int fd, const char *text) {
  ssize_t got = recv(fd, bytes, sizeof bytes - 1, MSG_DONTWAIT);
  same("length of the message", (long)strlen(text), got);
  bytes[got > 0 ? got : 0] = 0;
  same_text("the message", text, bytes);
}

static void say(int fd, const char *text) { MUST(send(fd, text, strlen(text), 0)); }

static void expect_works(int one, int other) {
  EXPECT(send(one, "there", 5, MSG_NOSIGNAL) == 5);
  expect_message(other, "there");
  EXPECT(send(other, "back", 4, MSG_NOSIGNAL) == 4);
  expect_message(one, "back");
}

static void pairs_with(int type) {
  int ends[2];
  MUST(socketpair(AF_UNIX, type, 0, ends));
  say(ends[0], "first");
  say(ends[1], "other way");
  struct stat was, is;
  MUST(fstat(ends[0], &was));
  hold();
  MUST(fstat(ends[0], &is));
  same("inode of the socket", (long)was.st_ino, (long)is.st_ino);
  expect_message(ends[1], "first");
  expect_message(ends[0], "other way");
  expect_works(ends[0], ends[1]);
}
static void stream_pair(void) { pairs_with(SOCK_STREAM); }
static void datagram_pair(void) { pairs_with(SOCK_DGRAM); }
static void packet_pair(void) { pairs_with(SOCK_SEQPACKET); }

static void half_closed(void) {
  int ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  say(ends[0], "last words");
  MUST(shutdown(ends[0], SHUT_WR));
  hold();
  expect_message(ends[1], "last words");
  same("then the end", 0, recv(ends[1], bytes, 1, MSG_DONTWAIT));
  say(ends[1], "answer");
  expect_message(ends[0], "answer");
}

static void closed_with_data(void) {
  int ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  say(ends[0], "left behind");
  close(ends[0]);
  hold();
  expect_message(ends[1], "left behind");
  same("then the end", 0, recv(ends[1], bytes, 1, MSG_DONTWAIT));
}

union control {
  char room[CMSG_SPACE(sizeof(int))];
  struct cmsghdr header;
};

/* A descriptor in a message that nobody has received yet. */
static void descriptor_on_its_way(void) {
  int ends[2], fd = MUST(open("passed", O_RDWR | O_CREAT, 0600));
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  MUST(write(fd, "passed", 6));
  struct stat was, is;
  MUST(fstat(fd, &was));
  union control control = {.header = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS}};
  memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  struct iovec body = {"here", 4};
  struct msghdr message = {
      .msg_iov = &body, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  MUST(sendmsg(ends[0], &message, 0));
  close(fd);
  hold();
  body = (struct iovec){bytes, 16};
  same("bytes", 4, recvmsg(ends[1], &message, MSG_DONTWAIT));
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS) {
    notice("no descriptor came");
    return;
  }
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  MUST(fstat(fd, &is));
  same("inode of the passed file", (long)was.st_ino, (long)is.st_ino);
  same("its offset", 6, lseek(fd, 0, SEEK_CUR));
}

/* Anybody who connects by `path` reaches the listener. */
static void expect_reached(int listener, const char *path) {
  int client = connected(SOCK_STREAM, path);
  if (client < 0) {
    notice("connecting to %s: %s", path, strerror(errno));
    return;
  }
  expect_works(client, (int)MUST(accept(listener, NULL, NULL)));
}

static void listener(void) {
  int fd = listening(SOCK_STREAM, "socket");
  struct stat was, is;
  MUST(stat("socket", &was));
  hold();
  MUST(stat("socket", &is));
  same("inode of its name", (long)was.st_ino, (long)is.st_ino);
  same("change time of its name", was.st_ctim.tv_nsec, is.st_ctim.tv_nsec);
  expect_reached(fd, "socket");
}

static void abstract_listener(void) {
  int fd = listening(SOCK_STREAM, "@undisturbed");
  hold();
  expect_reached(fd, "@undisturbed");
}

static void renamed_listener(void) {
  int fd = listening(SOCK_STREAM, "socket.new");
  MUST(rename("socket.new", "socket"));
  hold();
  expect_reached(fd, "socket");
}

static void linked_listener(void) {
  int fd = listening(SOCK_STREAM, "socket.new");
  MUST(link("socket.new", "socket"));
  MUST(unlink("socket.new"));
  hold();
  expect_reached(fd, "socket");
}

/* Bound by a path from the root, as servers do, and renamed: the name that it was given is gone. */
static void renamed_absolute(void) {
  char from[300], to[300], *here = getcwd(NULL, 0);
  snprintf(from, sizeof from, "%s/socket.new", here);
  snprintf(to, sizeof to, "%s/socket", here);
  int fd = listening(SOCK_STREAM, from);
  MUST(rename(from, to));
  hold();
  expect_reached(fd, to);
}

static void moved_listener(void) {
  MUST(mkdir("before", 0700));
  int fd = listening(SOCK_STREAM, "before/socket");
  MUST(rename("before", "after"));
  hold();
  expect_reached(fd, "after/socket");
}

static void deleted_listener(void) {
  int fd = listening(SOCK_STREAM, "socket");
  int client = MUST(connected(SOCK_STREAM, "socket")), server = MUST(accept(fd, NULL, NULL));
  MUST(unlink("socket"));
  hold();
  expect_works(client, server);
  EXPECT(access("socket", F_OK) < 0);
}

static void not_accepted(void) {
  int fd = listening(SOCK_STREAM, "socket"), client = MUST(connected(SOCK_STREAM, "socket"));
  say(client, "before it was accepted");
  hold();
  struct pollfd in = {.fd = fd, .events = POLLIN};
  same("connections that wait", 1, poll(&in, 1, 0));
  int server = accept(fd, NULL, NULL);
  expect_message(server, "before it was accepted");
  expect_works(client, server);
}

static void sender_address(void) {
  int receiver = bound(SOCK_DGRAM, "receiver"), sender = bound(SOCK_DGRAM, "sender");
  struct sockaddr_un to = address("receiver"), from = {0};
  MUST(sendto(sender, "letter", 6, 0, (struct sockaddr *)&to, sizeof to));
  hold();
  socklen_t length = sizeof from;
  same("bytes", 6, recvfrom(receiver, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&from, &length));
  same_text("sender", "sender", from.sun_path);
}

static void credentials(void) {
  int fd = listening(SOCK_STREAM, "socket"), client = MUST(connected(SOCK_STREAM, "socket"));
  int server = MUST(accept(fd, NULL, NULL));
  struct ucred peer = {0};
  socklen_t length = sizeof peer;
  hold();
  MUST(getsockopt(server, SOL_SOCKET, SO_PEERCRED, &peer, &length));
  same("the other end's pid", getpid(), peer.pid);
  same("the other end's uid", getuid(), peer.uid);
  expect_works(client, server);
}

static void options(void) {
  int ends[2], value;
  socklen_t length = sizeof value;
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  const struct {
    int option, value;
  } set[] = {{SO_PASSCRED, 1}, {SO_RCVBUF, 70000}, {SO_SNDBUF, 80000}, {SO_PEEK_OFF, 3}, {SO_PRIORITY, 4}};
  int were[5];
  unsigned long cookie, cookie_is;
  for (int i = 0; i < 5; i++) {
    MUST(setsockopt(ends[0], SOL_SOCKET, set[i].option, &set[i].value, sizeof(int)));
    MUST(getsockopt(ends[0], SOL_SOCKET, set[i].option, &were[i], &length));
  }
  socklen_t wide = sizeof cookie;
  MUST(getsockopt(ends[0], SOL_SOCKET, SO_COOKIE, &cookie, &wide));
  hold();
  for (int i = 0; i < 5; i++) {
    char what[40];
    snprintf(what, sizeof what, "option %d", set[i].option);
    MUST(getsockopt(ends[0], SOL_SOCKET, set[i].option, &value, &length));
    same(what, were[i], value);
  }
  MUST(getsockopt(ends[0], SOL_SOCKET, SO_COOKIE, &cookie_is, &wide));
  same("cookie", (long)cookie, (long)cookie_is);
}

static void urgent_byte(void) {
  int ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  say(ends[0], "plain");
  MUST(send(ends[0], "!", 1, MSG_OOB));
  hold();
  same("the urgent byte", 1, recv(ends[1], bytes, 1, MSG_OOB | MSG_DONTWAIT));
  same("it", '!', bytes[0]);
  expect_message(ends[1], "plain");
}

static int stream[2];
static void *writes(void *unused) {
  unsigned char block[1000];
  (void)unused;
  for (unsigned long at = 0;; at += sizeof block) {
    for (size_t i = 0; i < sizeof block; i++) block[i] = (unsigned char)((at + i) % 251);
    for (size_t sent = 0; sent < sizeof block;) {
      ssize_t got = send(stream[0], block + sent, sizeof block - sent, MSG_NOSIGNAL);
      if (got <= 0) return NULL;
      sent += (size_t)got;
    }
  }
}
static void busy_stream(void) {
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, stream));
  pthread_t writer;
  pthread_create(&writer, NULL, writes, NULL);
  ready();
  for (unsigned long at = 0; !is_over() && !has_noticed();) {
    ssize_t got = MUST(recv(stream[1], bytes, 10000, 0));
    for (ssize_t i = 0; i < got; i++, at++)
      if ((unsigned char)bytes[i] != at % 251) {
        notice("byte %lu is another", at);
        break;
      }
    rest(0.005);
  }
}

const struct program unix_programs[] = {
    {"unix-stream", stream_pair},
    {"unix-datagram", datagram_pair},
    {"unix-packet", packet_pair},
    {"unix-half-closed", half_closed},
    {"unix-closed-with-data", closed_with_data},
    {"descriptor-on-its-way", descriptor_on_its_way},
    {"unix-listener", listener},
    {"abstract-listener", abstract_listener},
    {"renamed-listener", renamed_listener},
    {"renamed-absolute-listener", renamed_absolute},
    {"linked-listener", linked_listener},
    {"moved-listener", moved_listener},
    {"deleted-listener", deleted_listener},
    {"unix-not-accepted", not_accepted},
    {"unix-sender-address", sender_address},
    {"unix-credentials", credentials},
    {"unix-options", options},
    {"unix-urgent-byte", urgent_byte},
    {"unix-busy", busy_stream},
    {0},
};
