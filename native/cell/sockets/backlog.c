/* Unix connections that nobody has accepted. CRIU connects their clients again, but not those that were closed since,
 * and what they have sent is in no socket that a program has. If it cannot be read, these connections are closed in a
 * copy. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel.h"
#include "report.h"
#include "shared/owned.h"
#include "sockets.h"

#define MOST_PACKETS (1 << 16)

/* A connection that waits. */
struct waiting {
  const struct stream_end *client; /* NULL: it is closed */
  uint64_t packets, shutdown;
};

void keep_end(struct noting *noting, const struct socket *socket, unsigned long inode) {
  size_t count = noting->end_count;
  if (!(count & (count - 1)))
    noting->ends = require_memory(realloc(noting->ends, (count ? 2 * count : 1) * sizeof *noting->ends));
  noting->ends[noting->end_count++] = (struct stream_end){.socket = *socket, .inode = inode};
}

bool has_backlog(int fd) {
  int listens = 0;
  socklen_t length = sizeof listens;
  struct pollfd in = {.fd = fd, .events = POLLIN};
  return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) && listens && poll(&in, 1, 0) > 0;
}

static const struct stream_end *find_end(const struct noting *noting, uint64_t inode) {
  for (size_t i = 0; i < noting->end_count; i++)
    if (noting->ends[i].inode == inode) return &noting->ends[i];
  return NULL;
}

static bool find_client(struct kernel *kernel, const struct noting *noting, uint64_t client, struct waiting *waiting) {
  uint64_t socket, inode;
  long at = find_member(types_of(kernel), "socket_alloc", "vfs_inode");
  if (!client || at < 0 || !read_number_at(kernel, client, "sock", "sk_socket", 8, &socket)) return false;
  if (!read_number_at(kernel, client, "sock", "sk_shutdown", 1, &waiting->shutdown)) return false;
  waiting->client = NULL;
  if (!socket) return true;
  if (!read_number_at(kernel, socket + (uint64_t)at, "inode", "i_ino", 8, &inode)) return false;
  return (waiting->client = find_end(noting, inode));
}

/* Descriptors that it carries can be sent only by a process that has them. */
static bool has_descriptors(struct kernel *kernel, uint64_t packet) {
  long at = find_member(types_of(kernel), "sk_buff", "cb");
  uint64_t descriptors;
  return at < 0 || !read_number_at(kernel, packet + (uint64_t)at, "unix_skb_parms", "fp", 8, &descriptors) ||
         descriptors;
}

/* In lines of their own if there is a SOCKET to send them through. */
static bool print_packets(FILE *to, struct kernel *kernel, uint64_t queue, const struct socket *socket) {
  uint64_t count, packet = queue;
  if (!read_number_at(kernel, queue, "sk_buff_head", "qlen", 4, &count) || count > MOST_PACKETS) return false;
  for (uint64_t i = 0; i < count; i++) {
    autofree char *bytes = NULL;
    size_t length;
    packet = next_packet(kernel, queue, packet);
    if (!packet || has_descriptors(kernel, packet) || !read_packet(kernel, packet, &bytes, &length)) return false;
    if (socket) begin_line(to, "unread", socket);
    print_hex(to, bytes, length);
    putc(socket ? '\n' : ' ', to);
  }
  return true;
}

static bool note_waiting(struct noting *noting, FILE *to, struct kernel *kernel, const struct socket *listener,
                         uint64_t connection) {
  struct waiting waiting;
  long queue = find_member(types_of(kernel), "sock", "sk_receive_queue");
  uint64_t client = read_pointer(kernel, connection, "unix_sock", "peer");
  if (queue < 0 || !find_client(kernel, noting, client, &waiting)) return false;
  const struct socket *socket = waiting.client ? &waiting.client->socket : NULL;
  if (!socket) begin_line(to, "queued", listener);
  if (!print_packets(to, kernel, connection + (uint64_t)queue, socket)) return false;
  if (!socket) putc('\n', to);
  if (!socket || !waiting.shutdown) return true;
  begin_line(to, "shut", socket);
  fprintf(to, "%lu\n", waiting.shutdown - 1);
  return true;
}

static bool note_all(struct noting *noting, FILE *to, const struct socket *listener) {
  struct kernel *kernel = require_kernel();
  uint64_t socket = kernel ? address_of_socket(kernel, listener->fd) : 0, packet, count;
  long at = socket ? find_member(types_of(kernel), "sock", "sk_receive_queue") : -1;
  if (at < 0) return false;
  uint64_t queue = packet = socket + (uint64_t)at;
  if (!read_number_at(kernel, queue, "sk_buff_head", "qlen", 4, &count)) return false;
  for (uint64_t i = 0; i < count; i++) {
    packet = next_packet(kernel, queue, packet);
    uint64_t connection = packet ? read_pointer(kernel, packet, "sk_buff", "sk") : 0;
    if (!connection || !note_waiting(noting, to, kernel, listener, connection)) return false;
  }
  return true;
}

void note_backlogs(struct noting *noting) {
  for (size_t i = 0; i < noting->end_count; i++) {
    const struct socket *socket = &noting->ends[i].socket;
    if (socket->fd < 0) continue;
    autofree char *text = NULL;
    size_t length;
    FILE *to = require_memory(open_memstream(&text, &length));
    bool is_noted = note_all(noting, to, socket);
    if (fclose(to)) die("write to memory");
    if (is_noted) {
      fwrite(text, 1, length, noting->to);
    } else {
      begin_line(noting->to, "backlog-lost", socket);
      fputs("-\n", noting->to);
    }
    close(socket->fd);
  }
}
