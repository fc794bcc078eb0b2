/* The identity of this environment, and the state of its agent. */
#pragma once

#include "fields.h"

struct stream;

void op_identity(struct stream *stream, const struct fields *fields);
void op_info(struct stream *stream, const struct fields *fields);
void op_quiesce(struct stream *stream, const struct fields *fields);

/* `agent --identify TEXT [--hostname NAME]`: for a host that cannot write to /run/forkpoint itself. Writes TEXT to
 * identity.json there, and sets the kernel's hostname. 0, or -1 with an error. */
int identify_run(const char *text, const char *hostname, struct error *error);
