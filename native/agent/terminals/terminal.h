/* Terminals: named programs on a pty of their own, watched by any number of streams. */
#pragma once

#include "fields.h"

struct stream;

void op_term_open(struct stream *stream, const struct fields *fields);
void op_term_resize(struct stream *stream, const struct fields *fields);
void op_term_list(struct stream *stream, const struct fields *fields);
void op_term_close(struct stream *stream, const struct fields *fields);
