/* Shell mode of exec.start, and the operations on shells. */
#pragma once

#include <stddef.h>

#include "fields.h"

struct command;
struct stream;

/* Queues a command and runs it if it is its turn. 0, or -1 with errno and a message. */
int shell_start(struct command *command, const struct fields *fields, char *message, size_t message_size);

void op_shell_list(struct stream *stream, const struct fields *fields);
void op_shell_close(struct stream *stream, const struct fields *fields);
