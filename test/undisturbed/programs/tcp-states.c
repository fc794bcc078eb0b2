/* TCP connections that are neither new nor at rest: half closed, closing, not accepted, not answered. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inet.h"
#include "program.h"

static char bytes[4096];

static int state_of(int fd) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length));
  return info.tcpi_state;
}

static void half_closed(void) {
  int ends[2];
  connection(AF_INET, ends);
  MUST(send(ends[0], "the question", 12, 0));
  MUST(shutdown(ends[0], SHUT_WR));
  rest(0.1);
  int client = state_of(ends[0]), server = state_of(ends[1]);
  hold();
  same("state of the client", client, state_of(ends[0]));
  same("state of the server", server, state_of(ends[1]));
  expect_text(ends[1], "the question");
  same("then the end", 0, recv(ends[1], bytes, 1, 0));
  EXPECT(send(ends[1], "the answer", 10, MSG_NOSIGNAL) == 10);
  expect_text(ends[0], "the answer");
  close(ends[1]);
  same("and the end of that", 0, recv(ends[0], bytes, 1, 0));
}

static void closed_by_one(void) {
  int ends[2];
  connection(AF_INET, ends);
  MUST(send(ends[0], "last words", 10, 0));
  close(ends[0]);
  rest(0.1);
  hold();
  expect_text(ends[1], "last words");
  same("then the end", 0, recv(ends[1], bytes, 1, 0));
}

static void closing(void) {
  int ends[2];
  connection(AF_INET, ends);
  MUST(shutdown(ends[0], SHUT_WR));
  MUST(shutdown(ends[1], SHUT_WR));
  rest(0.1);
  int state = state_of(ends[1]);
  hold();
  same("state", state, state_of(ends[1]));
  same("the end", 0, recv(ends[0], bytes, 1, 0));
}

static void not_accepted(void) {
  int listener = bound_to_loopback(AF_INET, SOCK_STREAM), accepted;
  MUST(listen(listener, 8));
  int client = MUST(connect_to(name_of(listener), SOCK_STREAM));
  hold();
  struct pollfd in = {.fd = listener, .events = POLLIN};
  same("connections that wait", 1, poll(&in, 1, 0));
  if (has_noticed()) return;
  accepted = MUST(accept(listener, NULL, NULL));
  expect_carries(client, accepted);
}

/* Three clients wait in the queue of a listener with TCP_DEFER_ACCEPT: none is served before it speaks. */
static void deferred(void) {
  int listener = bound_to_loopback(AF_INET, SOCK_STREAM);
  MUST(setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){600}, sizeof(int)));
  MUST(listen(listener, 8));
  int client = MUST(connect_to(name_of(listener), SOCK_STREAM));
  hold();
  struct pollfd in = {.fd = listener, .events = POLLIN};
  same("connections that nobody spoke on", 0, poll(&in, 1, 0));
  EXPECT(send(client, "hello", 5, MSG_NOSIGNAL) == 5);
  int waiting = poll(&in, 1, 3000);
  same("connections", 1, waiting);
  if (waiting == 1) expect_text((int)MUST(accept(listener, NULL, NULL)), "hello");
}

/* A SYN that nobody answers: the queue of the listener is full. */
static void connecting(void) {
  int listener = bound_to_loopback(AF_INET, SOCK_STREAM);
  MUST(listen(listener, 0));
  struct sockaddr_storage name = name_of(listener);
  MUST(connect_to(name, SOCK_STREAM));
  int client = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  MUST(setsockopt(client, IPPROTO_TCP, TCP_SYNCNT, &(int){100}, sizeof(int)));
  EXPECT(connect(client, (struct sockaddr *)&name, length_of(&name)) < 0 && errno == EINPROGRESS);
  int state = state_of(client);
  hold();
  same("state", state, state_of(client));
  same("error", 0, option_of(client, SOL_SOCKET, SO_ERROR));
  MUST(accept(listener, NULL, NULL));
  struct pollfd out = {.fd = client, .events = POLLOUT};
  /* The next SYN comes after up to a minute by now; asking for the state is enough. */
  EXPECT(poll(&out, 1, 0) >= 0);
}

static void corked(void) {
  int ends[2];
  connection(AF_INET, ends);
  MUST(setsockopt(ends[0], IPPROTO_TCP, TCP_CORK, &(int){1}, sizeof(int)));
  hold();
  same("TCP_CORK", 1, option_of(ends[0], IPPROTO_TCP, TCP_CORK));
  MUST(send(ends[0], "corked", 6, 0));
  MUST(setsockopt(ends[0], IPPROTO_TCP, TCP_CORK, &(int){0}, sizeof(int)));
  expect_text(ends[1], "corked");
}

static void urgent(void) {
  int ends[2];
  connection(AF_INET, ends);
  MUST(send(ends[0], "plain", 5, 0));
  MUST(send(ends[0], "!", 1, MSG_OOB));
  rest(0.1);
  hold();
  same("the urgent byte", 1, recv(ends[1], bytes, 1, MSG_OOB | MSG_DONTWAIT));
  same("it", '!', bytes[0]);
  expect_text(ends[1], "plain");
}

/* What happened to a connection and was not asked for yet. */
static void pending_error(void) {
  int ends[2];
  connection(AF_INET, ends);
  struct linger none = {1, 0};
  MUST(setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &none, sizeof none));
  close(ends[1]);
  rest(0.1);
  hold();
  same("the error that waits", ECONNRESET, option_of(ends[0], SOL_SOCKET, SO_ERROR));
}

/* Two listeners on one port, and the next connection reaches one of them. */
static void shared_port(void) {
  int one = MUST(socket(AF_INET, SOCK_STREAM, 0)), two = MUST(socket(AF_INET, SOCK_STREAM, 0));
  struct sockaddr_storage any = loopback(AF_INET, 0);
  MUST(setsockopt(one, SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int)));
  MUST(setsockopt(two, SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int)));
  MUST(bind(one, (struct sockaddr *)&any, length_of(&any)));
  struct sockaddr_storage name = name_of(one);
  MUST(bind(two, (struct sockaddr *)&name, length_of(&name)));
  MUST(listen(one, 8));
  MUST(listen(two, 8));
  hold();
  for (int i = 0; i < 8; i++) {
    int client = connect_to(name, SOCK_STREAM);
    struct pollfd in[2] = {{.fd = one, .events = POLLIN}, {.fd = two, .events = POLLIN}};
    EXPECT(client >= 0 && poll(in, 2, 3000) == 1);
    if (has_noticed()) return;
    expect_carries(client, (int)MUST(accept(in[0].revents ? one : two, NULL, NULL)));
  }
}

/* A port that is taken, bound and not listening, and a socket that is nothing yet. */
static void not_connected(void) {
  int taken = bound_to_loopback(AF_INET, SOCK_STREAM), fresh = MUST(socket(AF_INET6, SOCK_STREAM, 0));
  struct sockaddr_storage was = name_of(taken);
  hold();
  struct sockaddr_storage is = name_of(taken);
  EXPECT(memcmp(&was, &is, sizeof(struct sockaddr_in)) == 0);
  int other = MUST(socket(AF_INET, SOCK_STREAM, 0));
  EXPECT(bind(other, (struct sockaddr *)&was, length_of(&was)) < 0 && errno == EADDRINUSE);
  struct sockaddr_storage any = loopback(AF_INET6, 0);
  EXPECT(bind(fresh, (struct sockaddr *)&any, length_of(&any)) == 0 && listen(fresh, 1) == 0);
}

const struct program tcp_state_programs[] = {
    {"tcp-half-closed", half_closed},
    {"tcp-closed-by-one", closed_by_one},
    {"tcp-closing", closing},
    {"tcp-not-accepted", not_accepted},
    {"tcp-deferred", deferred},
    {"tcp-connecting", connecting},
    {"tcp-corked", corked},
    {"tcp-urgent", urgent},
    {"tcp-pending-error", pending_error},
    {"tcp-shared-port", shared_port},
    {"tcp-not-connected", not_connected},
    {0},
};
