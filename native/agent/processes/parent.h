/* Who started a process. */
#pragma once

#include <sys/types.h>

/* 0 if it was started from outside this pid namespace, -1 if there is no such process. */
pid_t parent_of(pid_t pid);
