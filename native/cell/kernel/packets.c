/* What is in the queues of sockets. A packet has its first bytes in one piece, and the rest in pages. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "kernel.h"
#include "shared/owned.h"

#define MOST_BYTES (1 << 22)
#define MOST_FRAGMENTS 64
#define PAGE_BITS 12
#define SAMPLE 20000 /* bytes; the kernel puts most of that into pages */

uint64_t address_of_socket(struct kernel *kernel, int fd) {
  return read_pointer(kernel, address_of_private(kernel, fd), "socket", "sk");
}

uint64_t next_packet(struct kernel *kernel, uint64_t head, uint64_t packet) {
  uint64_t next = read_pointer(kernel, packet, "sk_buff_head", "next"); /* a packet begins in the same way */
  return next == head ? 0 : next;
}

#if defined(__x86_64__)

/* Without CONFIG_RANDOMIZE_MEMORY, these are constants. */
static uint64_t pages = 0xffffea0000000000, memory = 0xffff888000000000;

static void find_memory(struct kernel *kernel) {
  static const struct {
    const char *name;
    uint64_t *value;
  } symbols[] = {{" vmemmap_base\n", &pages}, {" page_offset_base\n", &memory}};
  char line[256];
  FILE *list = fopen("/proc/kallsyms", "re");
  while (list && fgets(line, sizeof line, list)) {
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
      if (strstr(line, symbols[i].name))
        read_kernel(kernel, strtoul(line, NULL, 16), symbols[i].value, sizeof *symbols[i].value);
  }
  if (list) fclose(list);
}

/* Where the kernel has all memory mapped. */
static uint64_t address_of_page(struct kernel *kernel, uint64_t page) {
  long size = size_of_type(types_of(kernel), "page");
  return size <= 0 || page < pages ? 0 : memory + ((page - pages) / (uint64_t)size << PAGE_BITS);
}

#else

static void find_memory(struct kernel *kernel) { (void)kernel; }
static uint64_t address_of_page(struct kernel *kernel, uint64_t page) {
  (void)kernel, (void)page;
  return 0;
}

#endif

/* As the kernel has it for 64 bits. */
struct fragment {
  uint64_t page;
  uint32_t length, offset;
};

static bool read_fragments(struct kernel *kernel, uint64_t shared, char *bytes, size_t length) {
  struct fragment fragments[MOST_FRAGMENTS];
  uint64_t count, others;
  long at = find_member(types_of(kernel), "skb_shared_info", "frags");
  if (at < 0 || !read_number_at(kernel, shared, "skb_shared_info", "nr_frags", 1, &count)) return false;
  if (!read_number_at(kernel, shared, "skb_shared_info", "frag_list", 8, &others) || others) return false;
  if (count > MOST_FRAGMENTS || !read_kernel(kernel, shared + (uint64_t)at, fragments, count * sizeof *fragments))
    return false;
  for (size_t i = 0; i < count; i++) {
    const struct fragment *one = &fragments[i];
    uint64_t page = address_of_page(kernel, one->page);
    if (!page || one->length > length || !read_kernel(kernel, page + one->offset, bytes, one->length)) return false;
    bytes += one->length;
    length -= one->length;
  }
  return !length;
}

static bool read_whole(struct kernel *kernel, uint64_t packet, bool may_have_pages, char **bytes, size_t *length);

/* Whether we know where pages are: a message of our own must read as it was sent. */
static bool knows_pages(struct kernel *kernel) {
  static enum { UNTRIED, KNOWN, UNKNOWN } state;
  static char sent[SAMPLE];
  int ends[2];
  autofree char *bytes = NULL;
  size_t length = 0;
  if (state != UNTRIED) return state == KNOWN;
  state = UNKNOWN;
  find_memory(kernel);
  if (getrandom(sent, sizeof sent, 0) != sizeof sent || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
    return false;
  long at = find_member(types_of(kernel), "sock", "sk_receive_queue");
  if (at >= 0 && send(ends[0], sent, sizeof sent, 0) == sizeof sent) {
    uint64_t queue = address_of_socket(kernel, ends[1]) + (uint64_t)at, packet = next_packet(kernel, queue, queue);
    if (packet && read_whole(kernel, packet, true, &bytes, &length) && length == sizeof sent &&
        !memcmp(bytes, sent, sizeof sent))
      state = KNOWN;
  }
  close(ends[0]);
  close(ends[1]);
  return state == KNOWN;
}

static bool read_whole(struct kernel *kernel, uint64_t packet, bool may_have_pages, char **bytes, size_t *length) {
  uint64_t all, in_pages, end, data = read_pointer(kernel, packet, "sk_buff", "data");
  if (!data || !read_number_at(kernel, packet, "sk_buff", "len", 4, &all) ||
      !read_number_at(kernel, packet, "sk_buff", "data_len", 4, &in_pages) ||
      !read_number_at(kernel, packet, "sk_buff", "end", 4, &end) || all > MOST_BYTES || in_pages > all)
    return false;
  autofree char *read = malloc(all ? all : 1);
  uint64_t first = all - in_pages;
  if (!read || !read_kernel(kernel, data, read, first)) return false;
  uint64_t shared = read_pointer(kernel, packet, "sk_buff", "head") + end;
  if (in_pages && !may_have_pages && !knows_pages(kernel)) return false;
  if (in_pages && !read_fragments(kernel, shared, read + first, in_pages)) return false;
  *bytes = take_pointer(&read);
  *length = all;
  return true;
}

bool read_packet(struct kernel *kernel, uint64_t packet, char **bytes, size_t *length) {
  return read_whole(kernel, packet, false, bytes, length);
}
