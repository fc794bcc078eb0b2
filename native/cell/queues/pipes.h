#pragma once

#include <sys/stat.h>

#include "sockets.h"

/* INSIDE is the number of the process there. */
void note_pipe(struct noting *noting, pid_t process, int inside, int number, unsigned long inode);
/* Once all processes are noted. */
void note_pipes(struct noting *noting);
int put_packet_mode(const struct target *target, const char *value);
int put_pipe(const struct target *target, const char *value);
