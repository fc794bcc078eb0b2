/* A program on a terminal, and the last of what it showed. */
#pragma once

#include <stdbool.h>

#include "child.h"
#include "command.h"
#include "fields.h"
#include "list.h"
#include "loop.h"
#include "ring.h"

struct terminal {
	struct list link;
	char name[NAME_MAX_LENGTH + 1];
	struct source master;
	struct child child; /* pid 0 once it ended */
	pid_t pid;
	int cols, rows;
	struct ring ring;
	bool ended;
	int wait_status;
	struct timer kill_timer;
	bool closing;
	struct list viewers; /* of viewer.link */
};

struct viewer {
	struct list link;
	struct stream *stream;
	struct terminal *terminal;
	uint64_t sent; /* its place in the ring */
	struct buffer typed;
};

extern struct list terminals;

struct terminal *terminal_find(const char *name);

/* Starts the program the fields describe. NULL with errno and a message. */
struct terminal *terminal_start(const char *name, const struct fields *fields, char *message, size_t message_size);

/* Types what the viewers sent, as the terminal takes it. */
void terminal_type(struct terminal *terminal);

/* HUP, then KILL; the record goes when the program has. */
void terminal_hang_up(struct terminal *terminal);

/* Frees it when nobody needs it any more. */
void terminal_release(struct terminal *terminal);
