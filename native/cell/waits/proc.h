/* Files of the kernel about one thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads a file that fits into SIZE bytes, and ends it with NUL. False if the thread has ended. */
bool read_proc(pid_t process, pid_t thread, const char *name, char *text, size_t size);
