/* What is left of commands that have ended and are no longer kept with their output: facts for the log. */
#pragma once

#include "buffer.h"
#include "command.h"

/* Remembers an ended command, which is about to be freed. Without memory it is left out of the log. */
void history_add(const struct command *command);

/* Puts a record of each command that has ended: those of the history, then those that are still kept. */
void history_put(struct buffer *records);
