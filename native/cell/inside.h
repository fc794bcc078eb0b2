/* What the first process of a cell does before it becomes the agent. */
#pragma once

#include "spec.h"

__attribute__((noreturn)) void become_agent(const struct spec *spec);
/* Hides kernel interfaces below the current directory, which is the root of a cell. Can be repeated. */
void mask_kernel_interfaces(void);
#define NEWEST_MASK "sys/devices/virtual/block" /* a cell that has this mask has all of them */
#define MOST_TERMINALS "512"                    /* the kernel's own limit is for the whole machine */
#define DEVPTS_FLAGS (MS_NOSUID | MS_NOEXEC)
#define DEVPTS_OPTIONS "ptmxmode=0666,mode=0620,gid=5,max=" MOST_TERMINALS
