/* The stream that holds a command: output to the host, input from it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "fields.h"
#include "shared/error.h"

struct command;
struct output;
struct stream;

/* Gives the stream the command's output, from the offsets in the fields on. A stream that held the command before ends.
 */
void command_hold(struct command *command, struct stream *stream, const struct fields *fields);

/* The same for a command that was started before. First tells the stream how far the command is. */
void command_attach(struct command *command, struct stream *stream, const struct fields *fields);

/* Tells a stream how far the command is, and where its output begins. */
void command_send_place(const struct command *command, struct stream *stream, uint64_t out_sent, uint64_t err_sent);

/* Sends one slice of an output. True if more could follow at once. */
bool command_send_slice(struct stream *stream, int channel, const struct output *output, uint64_t *sent);

/* Whether the command has ended, and all its output was sent. */
bool command_is_sent(const struct command *command, uint64_t out_sent, uint64_t err_sent);

/* Ends the stream with how the command ended. */
void command_send_outcome(const struct command *command, struct stream *stream);

/* How it ended, as fields. */
void command_put_outcome(struct buffer *fields, const struct command *command);

/* Gives up a command that could not be run: its holder gets the error, and it is freed. */
void command_abandon(struct command *command, const struct error *error);
