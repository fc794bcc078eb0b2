/* Who this environment is, and how its agent fares. */
#pragma once

#include "fields.h"

struct stream;

void op_identity(struct stream *stream, const struct fields *fields);
void op_info(struct stream *stream, const struct fields *fields);
void op_quiesce(struct stream *stream, const struct fields *fields);
