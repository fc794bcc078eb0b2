/* A program on a terminal, and the last of its output. */
#pragma once

#include <stdbool.h>

#include "child.h"
#include "command.h"
#include "fields.h"
#include "list.h"
#include "loop.h"
#include "ring.h"

struct size {
  int cols, rows;
};

struct terminal {
  struct list link;
  char name[NAME_MAX_LENGTH + 1];
  struct source master;
  struct child child; /* its pid is 0 after it has ended */
  pid_t pid;
  struct size size;
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
  uint64_t sent; /* how far it is in the ring */
  struct buffer typed;
};

extern struct list terminals;

struct terminal *terminal_find(const char *name);

/* Starts the program that the fields describe. NULL with an error. */
struct terminal *terminal_start(const char *name, const struct fields *fields, struct error *error);

/* The kernel tells the program, unless that is its size already. 0, or -1 with errno. */
int terminal_resize(struct terminal *terminal, struct size size);

/* Types what the viewers have sent, as fast as the terminal takes it. */
void terminal_type(struct terminal *terminal);

/* Sends HUP, and later KILL. The terminal is freed after the program has ended. */
void terminal_hang_up(struct terminal *terminal);

/* Frees it if nobody needs it any more. */
void terminal_release(struct terminal *terminal);
