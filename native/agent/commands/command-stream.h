/* The exec operations: how the host starts, follows and lists commands. */
#pragma once

#include "fields.h"

struct command;
struct stream;

void op_exec_start(struct stream *stream, const struct fields *fields);
void op_exec_attach(struct stream *stream, const struct fields *fields);
void op_exec_signal(struct stream *stream, const struct fields *fields);
void op_exec_list(struct stream *stream, const struct fields *fields);
void op_exec_forget(struct stream *stream, const struct fields *fields);

/* It could not be run after all: its holder gets the error, the record goes. */
void command_abandon(struct command *command, int error, const char *message);
