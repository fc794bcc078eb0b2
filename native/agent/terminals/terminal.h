/* Terminals: named programs, each on a pty of its own, that any number of streams can watch. */
#pragma once

#include "fields.h"

struct stream;

void op_term_open(struct stream *stream, const struct fields *fields);
void op_term_resize(struct stream *stream, const struct fields *fields);
void op_term_list(struct stream *stream, const struct fields *fields);
void op_term_close(struct stream *stream, const struct fields *fields);
