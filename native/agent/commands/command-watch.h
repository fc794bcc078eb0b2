/* Streams that read along with a command, and take nothing from the stream that holds it. */
#pragma once

#include "fields.h"

struct command;
struct stream;

/* Sends the command's output to the stream, from the offsets in the fields on. The command waits for no watcher: one
 * that is more than a ring behind gets EOVERFLOW. */
void command_watch(struct command *command, struct stream *stream, const struct fields *fields);

void command_wake_watchers(struct command *command);
void command_end_watchers(struct command *command);
