/* Values in lines of text. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "attributes.h"

void print_hex(FILE *to, const void *bytes, size_t length) {
  if (!length) putc('-', to);
  for (size_t i = 0; i < length; i++) fprintf(to, "%02x", ((const uint8_t *)bytes)[i]);
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

ssize_t parse_hex(const char *text, void *bytes, size_t size) {
  size_t length = 0;
  if (*text == '-') return text[1] && text[1] != ' ' ? -1 : 0;
  for (; *text && *text != ' '; text += 2, length++) {
    int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
    if (low < 0 || length == size) return -1;
    ((uint8_t *)bytes)[length] = (uint8_t)(high << 4 | low);
  }
  return length ? (ssize_t)length : -1;
}

bool parse_number(const char *text, unsigned long most, unsigned long *number) {
  char *end;
  errno = 0;
  if (!isdigit((unsigned char)*text)) return false;
  *number = strtoul(text, &end, 10);
  return !errno && !*end && *number <= most;
}
