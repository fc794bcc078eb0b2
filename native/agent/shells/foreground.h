/* What a shell runs in the foreground of its terminal. */
#pragma once

#include <sys/types.h>

struct shell;

/* The foreground group of the shell's terminal, or 0 if that is bash itself. */
pid_t foreground_group(const struct shell *shell);
