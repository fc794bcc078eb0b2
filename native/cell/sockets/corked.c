/* Datagrams that a program has begun to send, with UDP_CORK or MSG_MORE. The kernel keeps the first part. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel.h"
#include "report.h"
#include "shared/owned.h"
#include "sockets.h"
#include "waits.h"

#define HEADER 8 /* of UDP, in bytes */
#define MOST_PACKETS 64

/* After the headers, for which there is only room so far. */
static bool print_part(FILE *to, struct kernel *kernel, uint64_t packet, bool is_first, size_t *total) {
  autofree char *bytes = NULL;
  size_t length;
  uint64_t transport, head = read_pointer(kernel, packet, "sk_buff", "head");
  uint64_t data = read_pointer(kernel, packet, "sk_buff", "data");
  if (!read_number_at(kernel, packet, "sk_buff", "transport_header", 2, &transport)) return false;
  uint64_t skipped = head + transport - data + (is_first ? HEADER : 0);
  if (!read_packet(kernel, packet, &bytes, &length) || skipped > length) return false;
  *total += length - skipped;
  for (size_t i = skipped; i < length; i++) fprintf(to, "%02x", (uint8_t)bytes[i]);
  return true;
}

static bool print_parts(FILE *to, struct kernel *kernel, uint64_t socket) {
  uint64_t count, length;
  size_t total = 0;
  long at = find_member(types_of(kernel), "sock", "sk_write_queue");
  uint64_t queue = socket + (uint64_t)at, packet = queue;
  if (at < 0 || !read_number_at(kernel, queue, "sk_buff_head", "qlen", 4, &count) || count > MOST_PACKETS ||
      !read_number_at(kernel, socket, "udp_sock", "len", 2, &length))
    return false;
  for (uint64_t i = 0; i < count; i++) {
    packet = next_packet(kernel, queue, packet);
    if (!packet || !print_part(to, kernel, packet, !i, &total)) return false;
  }
  return total + HEADER == length;
}

/* Where the datagram goes, if not to where the socket is connected: address and port, as they are sent. */
static bool print_destination(FILE *to, struct kernel *kernel, uint64_t socket, int fd) {
  struct sockaddr_storage other;
  socklen_t size = sizeof other;
  uint64_t address, port;
  if (!getpeername(fd, (struct sockaddr *)&other, &size)) return fputs("- ", to) >= 0;
  struct types *types = types_of(kernel);
  long cork = find_member(types, "inet_sock", "cork"), flow = find_member(types, "inet_cork_full", "fl");
  uint64_t at = socket + (uint64_t)cork + (uint64_t)flow;
  if (cork < 0 || flow < 0 || !read_number_at(kernel, at, "flowi4", "daddr", 4, &address) ||
      !read_number_at(kernel, at, "flowi4", "uli", 2, &port))
    return false;
  return fprintf(to, "%lu,%lu ", address, port) > 0;
}

static bool print_half(FILE *to, struct kernel *kernel, const struct socket *socket) {
  uint64_t address = kernel ? address_of_socket(kernel, socket->fd) : 0, pending;
  if (!address || !read_number_at(kernel, address, "udp_sock", "pending", 4, &pending)) return false;
  if (!pending) return fputs("- -", to) >= 0;
  return pending == AF_INET && print_destination(to, kernel, address, socket->fd) && print_parts(to, kernel, address);
}

/* Bytes that wait to be sent, or the option that makes them wait. */
void note_half_datagram(struct noting *noting, const struct socket *socket) {
  int is_corked = 0;
  socklen_t length = sizeof is_corked;
  uint32_t memory[SK_MEMINFO_VARS] = {0};
  socklen_t size = sizeof memory;
  if (getsockopt(socket->fd, IPPROTO_UDP, UDP_CORK, &is_corked, &length)) return;
  if (getsockopt(socket->fd, SOL_SOCKET, SO_MEMINFO, memory, &size)) return;
  if (!is_corked && !memory[SK_MEMINFO_WMEM_ALLOC]) return;
  autofree char *text = NULL;
  size_t text_length;
  FILE *to = require_memory(open_memstream(&text, &text_length));
  bool is_noted = print_half(to, require_kernel(), socket);
  if (fclose(to)) die("write to memory");
  if (is_noted && !is_corked && !strcmp(text, "- -")) return;
  begin_line(noting->to, is_noted ? "half-datagram" : "half-lost", socket);
  fprintf(noting->to, "%d %s\n", is_corked, is_noted ? text : "- -");
}

static int send_half(int fd, const char *to, const char *text) {
  size_t room = strlen(text) / 2 + 1;
  autofree char *bytes = malloc(room);
  ssize_t length = bytes ? parse_hex(text, bytes, room) : -1;
  struct sockaddr_in name = {.sin_family = AF_INET};
  unsigned address, port;
  bool is_connected = *to == '-';
  if (length < 0 || (!is_connected && sscanf(to, "%u,%u", &address, &port) != 2)) return EINVAL;
  if (!is_connected) {
    name.sin_addr.s_addr = address;
    name.sin_port = (in_port_t)port;
  }
  ssize_t sent = sendto(fd, bytes, (size_t)length, MSG_MORE | MSG_DONTWAIT,
                        is_connected ? NULL : (struct sockaddr *)&name, is_connected ? 0 : sizeof name);
  return sent < 0 ? errno : 0;
}

int put_half_datagram(const struct target *target, const char *value) {
  int is_corked, at = 0;
  char to[64];
  if (sscanf(value, "%d %63s %n", &is_corked, to, &at) != 2 || !at) return EINVAL;
  autoclose int fd = borrow_descriptor(target->process, target->descriptor);
  if (fd < 0) return errno;
  int code = value[at] == '-' ? 0 : send_half(fd, to, value + at);
  if (code || !is_corked) return code;
  return setsockopt(fd, IPPROTO_UDP, UDP_CORK, &is_corked, sizeof is_corked) ? errno : 0;
}
