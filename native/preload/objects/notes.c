/* Notes for the surgery on the images, beside them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "objects.h"

#define NOTES "noted.img"

static int images = -1, notes = -1;

void note_images(int directory) { images = directory; }

bool note(const char *format, ...) {
  char line[2 * PATH_MAX];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (length < 0 || (size_t)length >= sizeof line) return false;
  if (notes < 0) notes = openat(images, NOTES, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  return notes >= 0 && write(notes, line, (size_t)length + 1) == length + 1;
}

bool note_hidden(void) {
  static bool is_noted;
  return is_noted || (is_noted = note("hidden"));
}
