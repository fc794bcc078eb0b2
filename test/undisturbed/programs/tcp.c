/* TCP on loopback: data under way, and what a socket was told. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "inet.h"
#include "program.h"

static unsigned char bytes[1 << 16];

static void queued_over(int family) {
  int ends[2];
  connection(family, ends);
  MUST(send(ends[0], "to the server", 13, 0));
  MUST(send(ends[1], "to the client", 13, 0));
  hold();
  expect_text(ends[1], "to the server");
  expect_text(ends[0], "to the client");
  expect_carries(ends[0], ends[1]);
}
static void queued(void) { queued_over(AF_INET); }
static void queued_v6(void) { queued_over(AF_INET6); }

/* Both directions at once, full windows, one reader that is slower than the writer. */
static int busy[2];
static void *pump(void *end) {
  unsigned char block[8192];
  unsigned long at = 0;
  for (;;) {
    fill(block, sizeof block, &at);
    for (size_t sent = 0; sent < sizeof block;) {
      ssize_t got = send(busy[(long)end], block + sent, sizeof block - sent, MSG_NOSIGNAL);
      if (got < 0 && !is_over()) notice("send: %s", strerror(errno));
      if (got <= 0) return NULL;
      sent += (size_t)got;
    }
  }
}

/* How long a connection that moves may stand still beside everything else, on a busy machine. After a long stop
 * the timers of TCP have backed off, so that it may take as long again, and longer where hundreds of programs wait for
 * two processors. */
#define LONGEST_STALL 20

static void busy_connection(void) {
  pthread_t writers[2];
  unsigned long at[2] = {0, 0};
  connection(AF_INET, busy);
  for (long i = 0; i < 2; i++) pthread_create(&writers[i], NULL, pump, (void *)i);
  ready();
  for (double last = now(), stops = stood_still(); !is_over() && !has_noticed();) {
    for (int i = 0; i < 2; i++) {
      ssize_t got = recv(busy[i], bytes, 30000, 0);
      if (got <= 0)
        notice("recv: %s", got == 0 ? "the end" : strerror(errno));
      else
        check(bytes, (size_t)got, &at[i]);
    }
    double stall = late_by(now() - last, stops);
    if (stall > LONGEST_STALL + stood_still() - stops) notice("nothing moved for %.3f s", stall);
    last = now(), stops = stood_still();
    rest(0.002);
  }
}

/* Sends until nothing fits; the reader begins only afterwards, and gets every byte. */
static void full_buffers(void) {
  int ends[2];
  unsigned long sent = 0, at = 0, from = 0;
  connection(AF_INET, ends);
  for (;;) {
    fill(bytes, sizeof bytes, &from);
    ssize_t got = send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0) break;
    sent += (unsigned long)got;
    from = sent;
  }
  hold();
  MUST(shutdown(ends[0], SHUT_WR));
  for (ssize_t got; (got = recv(ends[1], bytes, sizeof bytes, 0)) != 0 && !has_noticed();) {
    if (got < 0)
      notice("recv: %s", strerror(errno));
    else
      check(bytes, (size_t)got, &at);
  }
  same("bytes", (long)sent, (long)at);
}

static const struct {
  int level, option, value;
  const char *name;
} numbers[] = {
    {SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE"},
    {SOL_SOCKET, SO_OOBINLINE, 1, "SO_OOBINLINE"},
    {SOL_SOCKET, SO_RCVBUF, 100000, "SO_RCVBUF"},
    {SOL_SOCKET, SO_SNDBUF, 90000, "SO_SNDBUF"},
    {SOL_SOCKET, SO_PRIORITY, 3, "SO_PRIORITY"},
    {SOL_SOCKET, SO_RCVLOWAT, 7, "SO_RCVLOWAT"},
    {SOL_SOCKET, SO_DONTROUTE, 1, "SO_DONTROUTE"},
    {SOL_SOCKET, SO_TIMESTAMP, 1, "SO_TIMESTAMP"},
    {SOL_SOCKET, SO_BUSY_POLL, 0, "SO_BUSY_POLL"},
    {SOL_SOCKET, SO_MAX_PACING_RATE, 1234567, "SO_MAX_PACING_RATE"},
    {IPPROTO_IP, IP_TOS, 0x20, "IP_TOS"},
    {IPPROTO_IP, IP_TTL, 33, "IP_TTL"},
    {IPPROTO_IP, IP_RECVTOS, 1, "IP_RECVTOS"},
    {IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY"},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, 4321, "TCP_USER_TIMEOUT"},
    {IPPROTO_TCP, TCP_KEEPIDLE, 77, "TCP_KEEPIDLE"},
    {IPPROTO_TCP, TCP_KEEPINTVL, 11, "TCP_KEEPINTVL"},
    {IPPROTO_TCP, TCP_KEEPCNT, 5, "TCP_KEEPCNT"},
    {IPPROTO_TCP, TCP_SYNCNT, 4, "TCP_SYNCNT"},
    {IPPROTO_TCP, TCP_LINGER2, 9, "TCP_LINGER2"},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP, 50000, "TCP_WINDOW_CLAMP"},
    {IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1, "TCP_THIN_LINEAR_TIMEOUTS"},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT, 5000, "TCP_NOTSENT_LOWAT"},
    {IPPROTO_TCP, TCP_INQ, 1, "TCP_INQ"},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

/* Of a connection, and of a listener: what the kernel answers right after setting it is what it answers later. */
static void set_numbers(int fd, int were[]) {
  for (size_t i = 0; i < NUMBERS; i++)
    if (setsockopt(fd, numbers[i].level, numbers[i].option, &numbers[i].value, sizeof(int)) < 0)
      cannot(__FILE__, __LINE__, numbers[i].name);
  /* One option may change another: IP_TOS sets the priority. */
  for (size_t i = 0; i < NUMBERS; i++) were[i] = option_of(fd, numbers[i].level, numbers[i].option);
}
static void same_numbers(int fd, const int were[]) {
  for (size_t i = 0; i < NUMBERS; i++)
    same(numbers[i].name, were[i], option_of(fd, numbers[i].level, numbers[i].option));
}

static void options(void) {
  int ends[2], were[NUMBERS];
  connection(AF_INET, ends);
  set_numbers(ends[0], were);
  struct linger linger = {1, 55}, is = {0, 0};
  MUST(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
  hold();
  same_numbers(ends[0], were);
  socklen_t length = sizeof is;
  MUST(getsockopt(ends[0], SOL_SOCKET, SO_LINGER, &is, &length));
  same("SO_LINGER", 55, is.l_onoff ? is.l_linger : -1);
  expect_carries(ends[0], ends[1]);
}

static void listener_options(void) {
  int fd = bound_to_loopback(AF_INET, SOCK_STREAM), were[NUMBERS], defer, fast;
  set_numbers(fd, were);
  MUST(setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){10}, sizeof(int)));
  MUST(setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN, &(int){6}, sizeof(int)));
  MUST(listen(fd, 8));
  defer = option_of(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT);
  fast = option_of(fd, IPPROTO_TCP, TCP_FASTOPEN);
  hold();
  same_numbers(fd, were);
  same("TCP_DEFER_ACCEPT", defer, option_of(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT));
  same("TCP_FASTOPEN", fast, option_of(fd, IPPROTO_TCP, TCP_FASTOPEN));
}

static void congestion_control(void) {
  int ends[2];
  char is[32] = "";
  socklen_t length = sizeof is;
  connection(AF_INET, ends);
  MUST(setsockopt(ends[0], IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
  hold();
  MUST(getsockopt(ends[0], IPPROTO_TCP, TCP_CONGESTION, is, &length));
  same_text("congestion control", "reno", is);
}

/* The counters of a connection: a snapshot re-sends nothing and loses nothing. */
static void connection_details(void) {
  int ends[2];
  struct tcp_info was, is;
  socklen_t length = sizeof was;
  connection(AF_INET, ends);
  for (int i = 0; i < 20; i++) expect_carries(ends[0], ends[1]);
  rest(0.3);
  MUST(getsockopt(ends[0], IPPROTO_TCP, TCP_INFO, &was, &length));
  hold();
  MUST(getsockopt(ends[0], IPPROTO_TCP, TCP_INFO, &is, &length));
  same("state", was.tcpi_state, is.tcpi_state);
  same("re-sent", was.tcpi_total_retrans, is.tcpi_total_retrans);
  same("options", was.tcpi_options, is.tcpi_options);
  same("largest segment", was.tcpi_snd_mss, is.tcpi_snd_mss);
  same("largest segment received", was.tcpi_rcv_mss, is.tcpi_rcv_mss);
  same("path", was.tcpi_pmtu, is.tcpi_pmtu);
  same("window", was.tcpi_snd_cwnd, is.tcpi_snd_cwnd);
  same("round trip", was.tcpi_rtt, is.tcpi_rtt);
  same("its line in /proc/net", was.tcpi_rcv_space, is.tcpi_rcv_space);
  expect_carries(ends[0], ends[1]);
}

static void segments_v6(void) {
  int ends[2];
  struct tcp_info was, is;
  socklen_t length = sizeof was;
  connection(AF_INET6, ends);
  for (int i = 0; i < 20; i++) expect_carries(ends[0], ends[1]);
  MUST(getsockopt(ends[0], IPPROTO_TCP, TCP_INFO, &was, &length));
  hold();
  expect_carries(ends[0], ends[1]);
  MUST(getsockopt(ends[0], IPPROTO_TCP, TCP_INFO, &is, &length));
  same("segment that it sends", was.tcpi_snd_mss, is.tcpi_snd_mss);
}

static void cookie(void) {
  int ends[2];
  unsigned long was, is;
  socklen_t length = sizeof was;
  connection(AF_INET, ends);
  MUST(getsockopt(ends[0], SOL_SOCKET, SO_COOKIE, &was, &length));
  hold();
  MUST(getsockopt(ends[0], SOL_SOCKET, SO_COOKIE, &is, &length));
  same("cookie", (long)was, (long)is);
}

const struct program tcp_programs[] = {
    {"tcp-queued", queued},
    {"tcp-queued-v6", queued_v6},
    {"tcp-segments-v6", segments_v6},
    {"tcp-busy", busy_connection},
    {"tcp-full-buffers", full_buffers},
    {"tcp-options", options},
    {"tcp-listener-options", listener_options},
    {"tcp-congestion-control", congestion_control},
    {"tcp-details", connection_details},
    {"tcp-cookie", cookie},
    {0},
};
