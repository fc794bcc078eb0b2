/* Reports changes of files. */
#pragma once

#include "fields.h"

struct stream;

void op_file_watch(struct stream *stream, const struct fields *fields);
