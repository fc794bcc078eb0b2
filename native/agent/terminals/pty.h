/* Pseudo-terminals. */
#pragma once

#include "shared/error.h"

#define PTY_PATH 32

/* A master that does not block, and the path of its slave. -1 with an error. */
int pty_open(int cols, int rows, char path[PTY_PATH], struct error *error);
int pty_resize(int master, int cols, int rows); /* 0, or -1 with errno */
