#include "error.h"

#include <stdio.h>
#include <string.h>

#define CUT "…"

/* A name that is too long is cut short, so that the reason after it is not. */
static void write_text(char *text, size_t room, const char *template, va_list arguments) {
  int length = vsnprintf(text, room, template, arguments);
  if (length >= 0 && (size_t)length >= room) strcpy(text + room - sizeof CUT, CUT);
}

void error_set_list(struct error *error, int code, const char *template, va_list arguments) {
  char reason[128];
  snprintf(reason, sizeof reason, ": %s", strerror(code));
  error->code = code;
  write_text(error->text, sizeof error->text - strlen(reason), template, arguments);
  strcat(error->text, reason);
}

int error_set(struct error *error, int code, const char *template, ...) {
  va_list arguments;
  va_start(arguments, template);
  error_set_list(error, code, template, arguments);
  va_end(arguments);
  return -1;
}

void error_refuse_list(struct error *error, int code, const char *template, va_list arguments) {
  error->code = code;
  write_text(error->text, sizeof error->text, template, arguments);
}

int error_refuse(struct error *error, int code, const char *template, ...) {
  va_list arguments;
  va_start(arguments, template);
  error_refuse_list(error, code, template, arguments);
  va_end(arguments);
  return -1;
}
