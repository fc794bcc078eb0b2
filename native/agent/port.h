/* Forwarded connections to servers inside. */
#pragma once

#include "fields.h"

struct stream;

void op_port_connect(struct stream *stream, const struct fields *fields);
