#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "unpack.h"

const char *shown(const char *name) {
  static char text[256];
  size_t i = 0;
  for (; name[i] && i < sizeof text - 1; i++) text[i] = (unsigned char)name[i] < ' ' || name[i] == 127 ? '?' : name[i];
  text[i] = '\0';
  return text;
}

char *checked_name(const char *name, const char *what) {
  if (*name == '/') die_because("%s '%s' is absolute", what, shown(name));
  if (strlen(name) >= PATH_MAX) die_because("%s '%s' is too long", what, shown(name));
  char *clean = require_memory(malloc(strlen(name) + 1));
  size_t length = 0;
  for (const char *at = name; *at;) {
    size_t part = strcspn(at, "/");
    if (part == 2 && !strncmp(at, "..", 2)) die_because("%s '%s' leads out of the image", what, shown(name));
    if (part > 0 && !(part == 1 && *at == '.')) {
      if (length > 0) clean[length++] = '/';
      memcpy(clean + length, at, part);
      length += part;
    }
    at += part + (at[part] == '/');
  }
  clean[length] = '\0';
  return clean;
}
