/* The lines that bash reads: functions that are defined once, and what runs and reports each command. */
#pragma once

#include "buffer.h"
#include "shell.h"

void script_setup(struct buffer *lines);
void script_command(struct buffer *lines, const struct shell_call *call);
void script_report(struct buffer *lines, const struct shell_call *call);
