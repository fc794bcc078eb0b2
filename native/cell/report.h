/* Failures. A process of `cell` has one task: any failure ends it, with one line on stderr that says why. */
#pragma once

#include "shared/error.h"

/* A system call failed and errno has the reason. TEMPLATE is its name and arguments. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *template, ...);
/* No errno explains the failure. */
__attribute__((noreturn, format(printf, 1, 2))) void die_because(const char *template, ...);
__attribute__((noreturn)) void die_of(const struct error *error);
/* MEMORY, unless the allocation that returned it failed. */
void *require_memory(void *memory);
/* Sends all further reports to this descriptor, which a parent reads. */
void report_errors_to(int fd);

void write_file(const char *path, const char *text);
