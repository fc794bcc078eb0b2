/* What CRIU gets when it calls the kernel by number; both answer as the kernel does, -errno for a failure. */
#pragma once

#include <linux/sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* first-process.c */
long clone_cell(const struct clone_args *args, size_t size);
/* limits.c */
long read_limit(pid_t pid, int resource, struct rlimit *limit);
