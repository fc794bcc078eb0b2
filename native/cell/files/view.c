/* Commands that read environments' files:
 *
 *   cell scan DIRECTORY           every entry below, as records (record.c)
 *   cell lookup LAYER…            paths on stdin: the entry that each one is
 *   cell list LAYER…              paths on stdin: each entry and all below it
 *   cell read LAYER…              paths on stdin: contents (content.c)
 *   cell compare LAYER… -- LAYER…  paths on stdin: whether both sides hold the same
 *   cell copy DIRECTORY UID:GID|keep:BASE:COUNT LAYER…   see copy.c
 *
 * A LAYER is host:PATH or cell:PATH, topmost first. Paths on stdin end with NUL and
 * are relative to the root; the root itself is the empty path. Sorted ones are fast. */
#define _GNU_SOURCE
#include "view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char *const commands[] = {"scan", "lookup", "list", "read", "compare", "copy"};

bool is_view_command(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (!strcmp(commands[i], name)) return true;
  return false;
}

static size_t count_until(char **words, const char *end) {
  size_t count = 0;
  while (words[count] && (!end || strcmp(words[count], end))) count++;
  return count;
}

/* Where nobody changed fs.nr_open, the most that root may allow itself. */
#define MOST_FILES (1 << 20)
/* Measured: a level of the deepest recursion, that of `copy`, takes less than 2 KiB. */
#define STACK ((rlim_t)DEEPEST * 4096)

/* A walk holds every directory above it open, in every layer that has it. */
void allow_many_files(void) {
  struct rlimit limit = {MOST_FILES, MOST_FILES};
  if (!setrlimit(RLIMIT_NOFILE, &limit)) return;
  if (getrlimit(RLIMIT_NOFILE, &limit)) die("getrlimit", "open files");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit)) die("setrlimit", "open files");
}

void allow_deep_trees(void) {
  struct rlimit limit;
  allow_many_files();
  if (getrlimit(RLIMIT_STACK, &limit)) die("getrlimit", "stack");
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < STACK) limit.rlim_cur = STACK;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < STACK) limit.rlim_max = STACK;
  if (setrlimit(RLIMIT_STACK, &limit)) die("setrlimit", "stack");
}

static void parse_owner(const char *text, struct copy_owner *owner) {
  char rest;
  if (!text) die_usage("needs an owner", text);
  if (sscanf(text, "keep:%u:%u%c", &owner->id_base, &owner->id_count, &rest) == 2)
    owner->keep = true;
  else if (sscanf(text, "%u:%u%c", &owner->uid, &owner->gid, &rest) != 2)
    die_usage("an owner is UID:GID or keep:BASE:COUNT", text);
}

static void copy(char **words) {
  struct copy_owner owner = {0};
  if (!words[0]) die_usage("needs a directory", NULL);
  parse_owner(words[1], &owner);
  copy_files(words[0], &owner, words + 2, count_until(words + 2, NULL));
}

static void compare(char **words) {
  size_t before = count_until(words, "--");
  char **after = words + before + (words[before] ? 1 : 0);
  compare_files(words, before, after, count_until(after, NULL));
}

int run_view_command(char **argv) {
  const char *command = argv[0];
  char **words = argv + 1;
  size_t count = count_until(words, NULL);
  allow_deep_trees();
  setvbuf(stdout, NULL, _IOFBF, 1 << 18);
  if (!count) die_usage("needs a layer", NULL);
  if (!strcmp(command, "scan")) scan(words[0]);
  if (!strcmp(command, "lookup")) lookup(words, count);
  if (!strcmp(command, "list")) list(words, count);
  if (!strcmp(command, "read")) read_files(words, count);
  if (!strcmp(command, "compare")) compare(words);
  if (!strcmp(command, "copy")) copy(words);
  finish_output();
  return 0;
}
