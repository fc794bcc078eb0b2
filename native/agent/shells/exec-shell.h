/* Shell mode of exec.start, and the operations on shells. */
#pragma once

#include "fields.h"
#include "shared/error.h"

struct command;
struct stream;

/* Queues a command, and runs it if it is its turn. 0, or -1 with an error. */
int shell_start(struct command *command, const struct fields *fields, struct error *error);

void op_shell_list(struct stream *stream, const struct fields *fields);
void op_shell_close(struct stream *stream, const struct fields *fields);
