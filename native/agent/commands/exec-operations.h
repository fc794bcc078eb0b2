/* The exec operations: how the host starts, follows and lists commands. */
#pragma once

#include "fields.h"

struct stream;

void op_exec_start(struct stream *stream, const struct fields *fields);
void op_exec_attach(struct stream *stream, const struct fields *fields);
void op_exec_signal(struct stream *stream, const struct fields *fields);
void op_exec_list(struct stream *stream, const struct fields *fields);
void op_exec_forget(struct stream *stream, const struct fields *fields);
