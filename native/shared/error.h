/* One failure, as a value that travels from where it happens to whoever reports it. */
#pragma once

#include <stdarg.h>

struct error {
  int code;        /* errno, or 0 where no errno fits */
  char text[1024]; /* what failed, on what, and why */
};

/* A system call failed. CODE is its errno, TEMPLATE its name and arguments; the reason is added in words.
 * Always -1, for the caller to return. */
int error_set(struct error *error, int code, const char *template, ...) __attribute__((format(printf, 3, 4)));
void error_set_list(struct error *error, int code, const char *template, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Something is refused for a reason that only TEMPLATE can state. Always -1. */
int error_refuse(struct error *error, int code, const char *template, ...) __attribute__((format(printf, 3, 4)));
void error_refuse_list(struct error *error, int code, const char *template, va_list arguments)
    __attribute__((format(printf, 3, 0)));
