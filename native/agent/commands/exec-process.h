/* Process mode: a fresh process in a session of its own. */
#pragma once

#include "fields.h"

struct command;
struct stream;

/* Starts it. 0, or -1 with errno and a message. */
int process_start(struct command *command, const struct fields *fields, char *message, size_t message_size);

/* Its time is up, or its grace is. */
void process_stop(struct command *command);
