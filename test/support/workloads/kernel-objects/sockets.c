/* Unix sockets with queued data and descriptors, TCP and UDP over loopback. */
#define _GNU_SOURCE
#include "object.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool peeks(int fd, const char *text) {
  char buffer[64] = "";
  size_t length = strlen(text);
  return recv(fd, buffer, sizeof buffer, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)length &&
         !memcmp(buffer, text, length);
}

static void say(int fd, const char *text) { MUST(send(fd, text, strlen(text), 0)); }

/* Back and forth, leaving nothing queued. */
static bool carries(int from, int to) {
  char buffer[8];
  return send(from, "ping", 4, 0) == 4 && recv(to, buffer, 4, MSG_WAITALL) == 4 &&
         !memcmp(buffer, "ping", 4);
}

static int stream[2], datagram[2], sequence[2], half_closed[2];

static void make_pairs(void) {
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, stream));
  MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagram));
  MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sequence));
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, half_closed));
  say(stream[0], "stream");
  say(datagram[0], "datagram one");
  say(datagram[0], "datagram two");
  say(sequence[0], "packet one");
  say(sequence[0], "packet two");
  MUST(shutdown(half_closed[0], SHUT_WR));
}

static bool pairs_hold(void) {
  char byte;
  return peeks(stream[1], "stream") && peeks(datagram[1], "datagram one") &&
         peeks(sequence[1], "packet one") && carries(stream[1], stream[0]) &&
         carries(half_closed[1], half_closed[0]) && recv(half_closed[1], &byte, 1, 0) == 0;
}

/* A descriptor in flight, in a message that nobody has received yet. */
static int passing[2];

union control {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr header;
};

static void make_passing(void) {
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, passing));
  int fd = MUST(open("passed", O_RDWR | O_CREAT, 0600));
  MUST(write(fd, "passed along", 12));
  union control control = {
      .header = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS},
  };
  memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  struct iovec body = {"here", 4};
  struct msghdr message = {
      .msg_iov = &body, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  MUST(sendmsg(passing[0], &message, 0));
  MUST(close(fd));
}

static bool passing_holds(void) {
  char text[16] = "";
  union control control;
  struct iovec body = {text, sizeof text};
  struct msghdr message = {
      .msg_iov = &body, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (recvmsg(passing[1], &message, MSG_PEEK | MSG_DONTWAIT) != 4) return false;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS) return false;
  int fd;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  bool same = pread(fd, text, 12, 0) == 12 && !memcmp(text, "passed along", 12);
  close(fd);
  return same;
}

static struct sockaddr_un address(const char *path) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  strcpy(name.sun_path + (*path == '@'), path + (*path == '@'));
  return name;
}

static int named_listener, abstract_listener, named_client, named_server;

static int listen_at(const char *path) {
  struct sockaddr_un name = address(path);
  int fd = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
  MUST(bind(fd, (struct sockaddr *)&name, sizeof name));
  MUST(listen(fd, 8));
  return fd;
}

static int connect_to(const char *path) {
  struct sockaddr_un name = address(path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0) return fd;
  close(fd);
  return -1;
}

static void make_listeners(void) {
  named_listener = listen_at("socket");
  abstract_listener = listen_at("@abstract");
  named_client = MUST(connect_to("socket"));
  named_server = MUST(accept(named_listener, NULL, NULL));
  say(named_client, "to the server");
}

static bool accepts(int listener, const char *path) {
  int client = connect_to(path), server = client < 0 ? -1 : accept(listener, NULL, NULL);
  bool works = server >= 0 && carries(client, server);
  close(client);
  close(server);
  return works;
}

static bool listeners_hold(void) {
  return accepts(named_listener, "socket") && accepts(abstract_listener, "@abstract") &&
         peeks(named_server, "to the server") && carries(named_server, named_client);
}

static int tcp_listener, tcp_client, tcp_server, udp_one, udp_two;

static struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void make_tcp(void) {
  struct sockaddr_in name = loopback(7001);
  tcp_listener = MUST(socket(AF_INET, SOCK_STREAM, 0));
  MUST(setsockopt(tcp_listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
  MUST(bind(tcp_listener, (struct sockaddr *)&name, sizeof name));
  MUST(listen(tcp_listener, 8));
  tcp_client = MUST(socket(AF_INET, SOCK_STREAM, 0));
  MUST(connect(tcp_client, (struct sockaddr *)&name, sizeof name));
  tcp_server = MUST(accept(tcp_listener, NULL, NULL));
  MUST(setsockopt(tcp_client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)));
  say(tcp_client, "queued at the server");
}

static bool tcp_holds(void) {
  int no_delay = 0;
  socklen_t length = sizeof no_delay;
  return getsockopt(tcp_client, IPPROTO_TCP, TCP_NODELAY, &no_delay, &length) == 0 && no_delay &&
         peeks(tcp_server, "queued at the server") && carries(tcp_server, tcp_client);
}

static int udp(int port, int peer) {
  struct sockaddr_in own = loopback(port), other = loopback(peer);
  int fd = MUST(socket(AF_INET, SOCK_DGRAM, 0));
  MUST(bind(fd, (struct sockaddr *)&own, sizeof own));
  MUST(connect(fd, (struct sockaddr *)&other, sizeof other));
  return fd;
}

static void make_udp(void) {
  udp_one = udp(7002, 7003);
  udp_two = udp(7003, 7002);
}

static bool udp_holds(void) { return carries(udp_one, udp_two) && carries(udp_two, udp_one); }

const struct object socket_objects[] = {
    {"data queued in pairs of sockets", make_pairs, pairs_hold},
    {"a descriptor in a message on its way", make_passing, passing_holds},
    {"listening Unix sockets and a connection", make_listeners, listeners_hold},
    {"a TCP connection with queued data", make_tcp, tcp_holds},
    {"connected UDP sockets", make_udp, udp_holds},
    {0},
};
