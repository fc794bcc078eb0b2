#define _GNU_SOURCE
#include "input.h"

#include <errno.h>
#include <unistd.h>

/* More than one window, for a host that attaches again before its earlier bytes were read. */
#define WAITING_LIMIT (1 << 20)

static void drop_waiting(struct input *input) {
  size_t length = input->waiting.length;
  buffer_free(&input->waiting);
  if (length) input->consumed(input, length);
}

static void close_if_complete(struct input *input) {
  if (input->ended && !input->held_open && !input->waiting.length) source_close(&input->source);
}

static void write_waiting(struct input *input) {
  while (input->waiting.length) {
    ssize_t put = write(input->source.fd, buffer_bytes(&input->waiting), input->waiting.length);
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) {
      /* The reader is gone, and nobody else will take the rest. */
      source_close(&input->source);
      drop_waiting(input);
      return;
    }
    buffer_consume(&input->waiting, put);
    input->consumed(input, put);
  }
  source_watch(&input->source, input->waiting.length ? EPOLLOUT : 0);
  close_if_complete(input);
}

static void input_ready(struct source *source, uint32_t events) {
  (void)events;
  write_waiting(container_of(source, struct input, source));
}

void input_init(struct input *input, void (*consumed)(struct input *, size_t)) {
  source_init(&input->source, -1, input_ready);
  input->consumed = consumed;
}

void input_open(struct input *input, int fd) {
  input->source.fd = fd;
  write_waiting(input);
}

int input_add(struct input *input, const uint8_t *bytes, size_t length) {
  if (input->ended) {
    errno = EPIPE;
    return -1;
  }
  if (input->waiting.length + length > WAITING_LIMIT) {
    errno = ENOBUFS;
    return -1;
  }
  bool idle = !input->waiting.length;
  if (!buffer_append(&input->waiting, bytes, length)) {
    input->waiting.failed = false;
    errno = ENOMEM;
    return -1;
  }
  input->accepted += length;
  if (input->source.fd >= 0 && idle) write_waiting(input);
  return 0;
}

void input_end(struct input *input) {
  input->ended = true;
  close_if_complete(input);
}

void input_release_end(struct input *input) {
  input->held_open = false;
  close_if_complete(input);
}

void input_close(struct input *input) {
  source_close(&input->source);
  drop_waiting(input);
}
