/* Pseudo-terminals. */
#pragma once

#define PTY_PATH 32

/* A master that does not block, and the path of its slave. -1 with errno. */
int pty_open(int cols, int rows, char path[PTY_PATH]);
int pty_resize(int master, int cols, int rows);
