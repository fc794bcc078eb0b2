/* Hands an OPEN to the operation that it names. */
#pragma once

#include "fields.h"

struct stream;

void dispatch(struct stream *stream, const struct fields *fields);
