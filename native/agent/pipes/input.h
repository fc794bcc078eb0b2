/* The stdin of a command: bytes from the host, written as fast as the command reads. */
#pragma once

#include <stdbool.h>

#include "buffer.h"
#include "loop.h"

struct input {
  struct source source; /* write end; -1 if there is none, or it is closed */
  struct buffer waiting;
  uint64_t accepted; /* bytes from the host so far */
  bool ended;        /* the host has sent END */
  bool held_open;    /* END has to wait until the command has opened its pipe */
  /* LENGTH bytes have left the queue. */
  void (*consumed)(struct input *input, size_t length);
};

void input_init(struct input *input, void (*consumed)(struct input *, size_t));
void input_open(struct input *input, int fd);

/* 0, or -1 with errno ENOBUFS or ENOMEM. */
int input_add(struct input *input, const uint8_t *bytes, size_t length);
void input_end(struct input *input);
void input_release_end(struct input *input); /* ends held_open */
void input_close(struct input *input);
