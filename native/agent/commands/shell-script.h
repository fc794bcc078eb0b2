/* The lines that bash reads: the functions it is given once, and what runs and
 * reports one command. */
#pragma once

#include "buffer.h"
#include "shell.h"

void script_setup(struct buffer *lines);
void script_command(struct buffer *lines, const struct shell_call *call);
void script_report(struct buffer *lines, const struct shell_call *call);
