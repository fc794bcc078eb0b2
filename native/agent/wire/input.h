/* The stdin of a command: bytes the host sent, written as the command reads. */
#pragma once

#include <stdbool.h>

#include "buffer.h"
#include "loop.h"

struct input {
	struct source source;  /* write end, -1 when there is none or it is closed */
	struct buffer waiting;
	uint64_t accepted;     /* bytes taken from the host so far */
	bool ended;            /* the host sent END */
	bool held_open;        /* END must wait: the command has not opened its pipe yet */
	/* `length` bytes left the queue. */
	void (*consumed)(struct input *input, size_t length);
};

void input_init(struct input *input, void (*consumed)(struct input *, size_t));
void input_open(struct input *input, int fd);

/* 0, or -1 with errno ENOBUFS or ENOMEM. */
int input_add(struct input *input, const uint8_t *bytes, size_t length);
void input_end(struct input *input);
void input_release_end(struct input *input); /* held_open is over */
void input_close(struct input *input);
