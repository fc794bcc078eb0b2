/* One output of a command: a pipe read into a ring, under back-pressure. */
#pragma once

#include <stdbool.h>

#include "loop.h"
#include "ring.h"

struct output {
	struct source source;
	struct ring ring;
	bool full;     /* reading waits until the host has consumed */
	bool ended;    /* its command ended: read what is owed, no more */
	uint64_t owed; /* bytes that lay in the pipe when the command ended */
	void (*changed)(struct output *output); /* bytes came, or the last owed one did */
};

void output_init(struct output *output, void (*changed)(struct output *));

/* Takes fd over. 0, or -1 with errno. */
int output_open(struct output *output, int fd);

/* The command ended. What it wrote lies in the pipe now; a background job may
 * go on writing, which is not the command's output any more. */
void output_end(struct output *output);

/* Ended, and all that was owed is in the ring. */
bool output_complete(const struct output *output);

/* Space was freed in the ring: read on. */
void output_resume(struct output *output);

/* Closes the fd if nobody writes any more, and lets a drain empty it otherwise:
 * closing it early would kill a background job with SIGPIPE. */
void output_release(struct output *output);
void output_free(struct output *output);
