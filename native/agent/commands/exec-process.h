/* Process mode: a new process in a session of its own. */
#pragma once

#include "fields.h"
#include "shared/error.h"

struct command;

/* 0, or -1 with an error. */
int process_start(struct command *command, const struct fields *fields, struct error *error);

/* Ends the process because its time is up, or its grace. */
void process_stop(struct command *command);
