/* System calls that are refused inside whatever their arguments are. */
#pragma once

#include <stddef.h>

struct refusal {
  int call;
  int error; /* what the caller gets */
};

extern const struct refusal refusals[];
extern const size_t refusal_count;
