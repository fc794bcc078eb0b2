/* The pipes of a command in a shell, whose one end bash opens by a path. */
#pragma once

#include "user.h"

#define CALL_PIPE_PATH 160

enum pipe_end { END_READER, END_WRITER };

/* Where FIFOs are made: the directory of the agent's socket. */
void call_pipe_init(const char *socket);

/* Makes a pipe that does not block at either end. bash, which runs as USER, opens the end THEIRS again, which does
 * block. ENDS is as for pipe2. 0, or -1 with errno. */
int call_pipe_open(const struct user *user, enum pipe_end theirs, int ends[2]);

/* The path under which bash finds the end FD of a pipe that the agent holds. */
void call_pipe_path(const struct user *user, int fd, char path[CALL_PIPE_PATH]);

/* Closes the end that bash opens, and removes its path. */
void call_pipe_close(const struct user *user, int *fd);
