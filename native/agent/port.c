#define _GNU_SOURCE
#include "port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "inbox.h"
#include "loop.h"
#include "stream.h"
#include "util.h"

#define SLICE 65536

struct port {
  struct source source;
  struct stream *stream;
  struct sockaddr_storage addresses[2]; /* tried in turn */
  int address_count, next_address;
  uint16_t number;
  bool connected;
  bool received_all; /* the end of the server's stream was passed on */
  bool sent_all;     /* the end of the host's stream was */
  struct inbox inbox;
};

static void add_address(struct port *port, const char *text) {
  struct sockaddr_storage *at = &port->addresses[port->address_count];
  struct sockaddr_in *four = (struct sockaddr_in *)at;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)at;
  if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port->number);
    port->address_count++;
  } else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port->number);
    port->address_count++;
  }
}

static void update_interest(struct port *port) {
  uint32_t events = 0;
  if (!port->connected || port->inbox.waiting.length) events |= EPOLLOUT;
  if (port->connected && !port->received_all && stream_allowance(port->stream, CHANNEL_OUT, 1)) events |= EPOLLIN;
  source_watch(&port->source, events);
}

static void fail(struct port *port, const char *what, int code) {
  stream_fail_call(port->stream, code, "%s port %u", what, port->number);
}

static void port_ready(struct source *source, uint32_t events);

/* Tries the next address. False with errno if none is left. */
static bool connect_next(struct port *port) {
  errno = ECONNREFUSED;
  while (port->next_address < port->address_count) {
    struct sockaddr_storage *address = &port->addresses[port->next_address++];
    source_close(&port->source);
    port->source.fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (port->source.fd < 0) continue;
    socklen_t length = address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (connect(port->source.fd, (struct sockaddr *)address, length) < 0 && errno != EINPROGRESS) continue;
    update_interest(port);
    return true;
  }
  return false;
}

static void connected(struct port *port) {
  struct buffer nothing = {0};
  socklen_t length = sizeof(int);
  int error = 0, on = 1;
  getsockopt(port->source.fd, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error) {
    if (!connect_next(port)) fail(port, "connect to", error);
    return;
  }
  setsockopt(port->source.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  port->connected = true;
  stream_event(port->stream, &nothing);
  stream_wake(port->stream);
}

/* Passes on one slice of what the server sent. False if the stream has ended. */
static bool receive(struct port *port) {
  static uint8_t bytes[SLICE];
  size_t room = stream_allowance(port->stream, CHANNEL_OUT, sizeof bytes);
  if (!room || port->received_all) return true;
  ssize_t got = recv(port->source.fd, bytes, room, MSG_DONTWAIT);
  if (got > 0) {
    struct iovec piece = {bytes, got};
    stream_send(port->stream, CHANNEL_OUT, &piece, 1);
  } else if (got == 0) {
    port->received_all = true;
    stream_end(port->stream, CHANNEL_OUT);
  } else if (errno != EAGAIN && errno != EINTR) {
    fail(port, "receive from", errno);
    return false;
  }
  return true;
}

/* Passes on what the host sent. False if the stream has ended. */
static bool transmit(struct port *port) {
  if (!inbox_write(&port->inbox, port->stream, port->source.fd)) {
    fail(port, "send to", errno);
    return false;
  }
  if (port->inbox.ended && !port->inbox.waiting.length && !port->sent_all) {
    port->sent_all = true;
    shutdown(port->source.fd, SHUT_WR);
  }
  return true;
}

static void pump(struct stream *stream) {
  struct port *port = stream->context;
  if (!port->connected) return;
  if (!transmit(port) || !receive(port)) return;
  if (port->received_all && port->sent_all)
    stream_done(stream);
  else
    update_interest(port);
}

static void port_ready(struct source *source, uint32_t events) {
  struct port *port = container_of(source, struct port, source);
  if (!port->connected) {
    connected(port);
    return;
  }
  /* Both directions are broken, which epoll would report forever. */
  if ((events & (EPOLLHUP | EPOLLERR)) && port->received_all) {
    source_watch(source, 0);
    port->sent_all = true;
    port->inbox.waiting.length = 0;
  }
  pump(port->stream);
}

static void data(struct stream *stream, const uint8_t *bytes, size_t length) {
  struct port *port = stream->context;
  if (port->sent_all)
    stream_consumed(stream, length);
  else if (!inbox_add(&port->inbox, bytes, length))
    fail(port, "send to", ENOMEM);
  else
    stream_wake(stream);
}

static void end(struct stream *stream, const struct fields *fields) {
  struct port *port = stream->context;
  (void)fields;
  port->inbox.ended = true;
  stream_wake(stream);
}

static void closed(struct stream *stream) {
  struct port *port = stream->context;
  source_close(&port->source);
  buffer_free(&port->inbox.waiting);
  free(port);
}

static const struct stream_ops ops = {.pump = pump, .data = data, .end = end, .closed = closed};

void op_port_connect(struct stream *stream, const struct fields *fields) {
  autofree char *host = NULL;
  struct error error;
  int64_t number = fields_int(fields, KEY_PORT, 0);
  if (fields_optional(fields, KEY_HOST, &host, &error) < 0) {
    stream_fail(stream, &error);
    return;
  }
  if (number < 1 || number > 65535) {
    stream_refuse(stream, EINVAL, "port %lld is not between 1 and 65535", (long long)number);
    return;
  }
  struct port *port = calloc(1, sizeof *port);
  if (!port) {
    stream_fail_call(stream, ENOMEM, "calloc of a connection to port %lld", (long long)number);
    return;
  }
  source_init(&port->source, -1, port_ready);
  port->stream = stream;
  port->number = number;
  stream_adopt(stream, &ops, port);
  if (!host || !strcmp(host, "localhost")) {
    /* Some servers take "localhost" for ::1 only. */
    add_address(port, "127.0.0.1");
    add_address(port, "::1");
  } else {
    add_address(port, host);
  }
  if (!port->address_count)
    stream_refuse(stream, EINVAL, "host '%.200s' is not an IP address, and names are not resolved", host);
  else if (!connect_next(port))
    fail(port, "connect to", errno);
}
