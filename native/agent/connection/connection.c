#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "buffer.h"
#include "connection-state.h"
#include "fields.h"
#include "loop.h"
#include "peer.h"
#include "protocol.h"
#include "stream.h"
#include "util.h"

#define QUEUE_LIMIT (1 << 20)

/* Connections that are accepted in one turn. */
#define ACCEPT_BATCH 64

static struct source listener;
static enum clients clients;
static struct list connections = LIST_INIT(connections);
static int connection_count;

int connections_count(void) { return connection_count; }

static void finish_close(struct task *task) {
  struct connection *connection = container_of(task, struct connection, close_later);
  for (int i = 0; i < BUCKETS; i++)
    while (!list_empty(&connection->streams[i]))
      stream_drop(container_of(connection->streams[i].next, struct stream, in_connection));
  source_close(&connection->source);
  list_remove(&connection->link);
  connection_count--;
  /* Accepting stops while there are too many. */
  source_watch(&listener, EPOLLIN);
  buffer_free(&connection->output);
  buffer_free(&connection->open_fields);
  free(connection->input);
  free(connection);
}

void connection_close(struct connection *connection) {
  if (connection->closed) return;
  connection->closed = true;
  source_watch(&connection->source, 0);
  task_schedule(&connection->close_later);
}

void connections_close_all(struct connection *last) {
  list_for_each(node, &connections) {
    struct connection *connection = container_of(node, struct connection, link);
    if (connection != last) connection_close(connection);
  }
  connection_close(last);
}

bool connection_has_room(const struct connection *connection) {
  return !connection->closed && connection->output.length < QUEUE_LIMIT;
}

void connection_park(struct connection *connection, struct list *parked) { list_append(&connection->parked, parked); }

static void unpark(struct connection *connection) {
  while (!list_empty(&connection->parked)) {
    struct stream *stream = container_of(connection->parked.next, struct stream, parked);
    list_remove(&stream->parked);
    task_schedule(&stream->task);
  }
}

void connection_forget_stream(struct connection *connection, struct stream *stream) {
  list_remove(&stream->in_connection);
  connection->stream_count--;
}

/* Reads input only while answers drain, so a host that sends requests and reads nothing holds up only itself. */
static void update_interest(struct connection *connection) {
  uint32_t events = connection_has_room(connection) ? EPOLLIN : 0;
  if (connection->output.length) events |= EPOLLOUT;
  if (source_watch(&connection->source, events) < 0) connection_close(connection);
}

static ssize_t send_now(struct connection *connection, const struct iovec *pieces, int count) {
  struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = count};
  ssize_t sent = sendmsg(connection->source.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)) return 0;
  return sent;
}

static void queue_rest(struct connection *connection, const struct iovec *pieces, int count, size_t sent) {
  for (int i = 0; i < count; i++) {
    size_t skip = min_size(sent, pieces[i].iov_len);
    sent -= skip;
    buffer_append(&connection->output, (uint8_t *)pieces[i].iov_base + skip, pieces[i].iov_len - skip);
  }
}

void connection_send(struct connection *connection, int type, int channel, uint32_t stream, const struct iovec *pieces,
                     int count) {
  uint8_t header[FRAME_HEADER] = {0};
  struct iovec all[4] = {{header, sizeof header}};
  size_t length = 0;
  if (connection->closed) return;
  for (int i = 0; i < count; i++) {
    all[i + 1] = pieces[i];
    length += pieces[i].iov_len;
  }
  store_u32(header, length);
  header[4] = type;
  header[5] = channel;
  store_u32(header + 8, stream);
  ssize_t sent = connection->output.length ? 0 : send_now(connection, all, count + 1);
  if (sent >= 0) queue_rest(connection, all, count + 1, sent);
  if (sent < 0 || connection->output.failed)
    connection_close(connection);
  else if (connection->output.length)
    update_interest(connection);
}

static void flush_output(struct connection *connection) {
  struct buffer *output = &connection->output;
  struct iovec piece = {buffer_bytes(output), output->length};
  ssize_t sent = send_now(connection, &piece, 1);
  if (sent < 0) {
    connection_close(connection);
    return;
  }
  buffer_consume(output, sent);
  if (output->length < QUEUE_LIMIT / 2) unpark(connection);
  update_interest(connection);
}

static void connection_ready(struct source *source, uint32_t events) {
  struct connection *connection = container_of(source, struct connection, source);
  if (events & EPOLLOUT) flush_output(connection);
  if (connection->closed || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  ssize_t got = recv(source->fd, connection->input + connection->input_length, RECEIVE_BYTES - connection->input_length,
                     MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    connection_close(connection);
    return;
  }
  connection->input_length += got;
  incoming_handle(connection);
}

static void send_hello(struct connection *connection) {
  autobuffer struct buffer fields = {0};
  put_int(&fields, KEY_VERSION, PROTOCOL_VERSION);
  put_int(&fields, KEY_MAX_FRAME, FRAME_MAX);
  put_int(&fields, KEY_WINDOW, WINDOW_START);
  put_int(&fields, KEY_MAX_STREAMS, MAX_STREAMS);
  put_int(&fields, KEY_MAX_CONNECTIONS, MAX_CONNECTIONS);
  put_int(&fields, KEY_FEATURES, FEATURE_TREES | FEATURE_XATTRS);
  struct iovec piece = {buffer_bytes(&fields), fields.length};
  connection_send(connection, FRAME_HELLO, 0, 0, &piece, fields.failed ? 0 : 1);
}

static void add_connection(int fd) {
  struct connection *connection = calloc(1, sizeof *connection);
  if (connection) connection->input = malloc(RECEIVE_BYTES);
  if (!connection || !connection->input) {
    free(connection);
    close(fd);
    return;
  }
  source_init(&connection->source, fd, connection_ready);
  task_init(&connection->close_later, finish_close);
  list_init(&connection->parked);
  for (int i = 0; i < BUCKETS; i++) list_init(&connection->streams[i]);
  list_append(&connections, &connection->link);
  connection_count++;
  update_interest(connection);
  send_hello(connection);
}

/* Turns processes inside away at once, so that every place is for the host. False if nobody else waits. */
static bool accept_one(struct source *source) {
  int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    /* Without free descriptors, callers wait in the backlog. */
    if (errno == EMFILE || errno == ENFILE) source_watch(source, connection_count ? 0 : EPOLLIN);
    return false;
  }
  if (peer_is_host(fd, clients))
    add_connection(fd);
  else
    close(fd);
  return true;
}

static void accept_ready(struct source *source, uint32_t events) {
  (void)events;
  for (int i = 0; i < ACCEPT_BATCH && connection_count < MAX_CONNECTIONS; i++)
    if (!accept_one(source)) return;
  /* Above the limit they wait in the backlog, too. */
  if (connection_count >= MAX_CONNECTIONS) source_watch(source, 0);
}

/* Only root may connect. */
static int bind_socket(int fd, const struct sockaddr_un *address) {
  mode_t before = umask(0177);
  int bound = bind(fd, (const struct sockaddr *)address, sizeof *address);
  umask(before);
  return bound;
}

int connections_listen(const char *path, enum clients from, struct error *error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return error_set(error, ENAMETOOLONG, "bind '%s'", path);
  strcpy(address.sun_path, path);
  clients = from;
  if (unlink(path) < 0 && errno != ENOENT) return error_set(error, errno, "unlink '%s'", path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_set(error, errno, "socket AF_UNIX");
  source_init(&listener, fd, accept_ready);
  if (bind_socket(fd, &address) < 0) return error_set(error, errno, "bind '%s'", path);
  if (listen(fd, SOMAXCONN) < 0) return error_set(error, errno, "listen on '%s'", path);
  if (source_watch(&listener, EPOLLIN) < 0) return error_set(error, errno, "epoll_ctl of '%s'", path);
  return 0;
}
