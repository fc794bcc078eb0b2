/* The verbs that read the files of environments:
 *
 *   cell scan DIRECTORY             every entry below it, as records (record.c)
 *   cell lookup LAYER…              paths on stdin: the entry at each path
 *   cell list LAYER…                paths on stdin: each entry, and everything below it
 *   cell read LAYER…                paths on stdin: contents (content.c)
 *   cell compare LAYER… -- LAYER…   paths on stdin: whether both sides have the same content
 *   cell archive BASE:COUNT LAYER…  see archive.c; the ids are those of cell layers
 *
 * A LAYER is host:PATH or cell:PATH, topmost first. Paths on stdin end with NUL and are relative to the root, which
 * itself is the empty path. They are resolved faster if they are sorted. */
#define _GNU_SOURCE
#include "view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report.h"

size_t count_words(char **words) {
  size_t count = 0;
  while (words[count]) count++;
  return count;
}

/* The default of fs.nr_open, above which not even root can raise the limit. */
#define MOST_FILES (1 << 20)
/* Measured: each level of the deepest recursion, which is that of `archive`, takes less than 2 KiB. */
#define STACK ((rlim_t)DEEPEST * 4096)

/* A walk holds all directories above it open, in every layer that has them. */
void allow_many_files(void) {
  struct rlimit limit = {MOST_FILES, MOST_FILES};
  if (!setrlimit(RLIMIT_NOFILE, &limit)) return;
  if (getrlimit(RLIMIT_NOFILE, &limit)) die("getrlimit RLIMIT_NOFILE");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit)) die("setrlimit RLIMIT_NOFILE");
}

void allow_deep_trees(void) {
  struct rlimit limit;
  allow_many_files();
  if (getrlimit(RLIMIT_STACK, &limit)) die("getrlimit RLIMIT_STACK");
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < STACK) limit.rlim_cur = STACK;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < STACK) limit.rlim_max = STACK;
  if (setrlimit(RLIMIT_STACK, &limit)) die("setrlimit RLIMIT_STACK");
}

void begin_view(void) {
  allow_deep_trees();
  setvbuf(stdout, NULL, _IOFBF, 1 << 18);
}

void verb_scan(char **words) {
  begin_view();
  scan(words[0]);
}

void verb_lookup(char **words) {
  begin_view();
  lookup(words, count_words(words));
}

void verb_list(char **words) {
  begin_view();
  list(words, count_words(words));
}

void verb_read(char **words) {
  begin_view();
  read_files(words, count_words(words));
}

void verb_compare(char **words) {
  begin_view();
  size_t before = 0;
  while (words[before] && strcmp(words[before], "--")) before++;
  char **after = words + before + (words[before] ? 1 : 0);
  compare_files(words, before, after, count_words(after));
}
