/* The stream that holds a command: output to the host, input from it. */
#pragma once

#include "buffer.h"
#include "fields.h"
#include "shared/error.h"

struct command;
struct stream;

/* Gives the stream the command's output, from the offsets in the fields on. A stream that held the command before ends.
 */
void command_hold(struct command *command, struct stream *stream, const struct fields *fields);

/* The same for a command that was started before. First tells the stream how far the command is. */
void command_attach(struct command *command, struct stream *stream, const struct fields *fields);

/* How it ended, as fields. */
void command_put_outcome(struct buffer *fields, const struct command *command);

/* Gives up a command that could not be run: its holder gets the error, and it is freed. */
void command_abandon(struct command *command, const struct error *error);
