/* What a process reads about itself in /proc. */
#define _GNU_SOURCE
#include "program.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Counters that grow by running, and sizes that reading /proc itself changes. */
static bool is_counter(const char *line) {
  static const char *const counters[] = {"voluntary_ctxt",
                                         "nonvoluntary_ctxt",
                                         "VmRSS",
                                         "RssAnon",
                                         "RssFile",
                                         "VmHWM",
                                         "RssShmem",
                                         "VmPeak",
                                         "VmData",
                                         "VmSize",
                                         "State",
                                         "VmPTE",
                                         "SigQ"};
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
    if (strncmp(line, counters[i], strlen(counters[i])) == 0) return true;
  return false;
}

static char *status_without_counters(void) {
  char *text = slurp("/proc/self/status"), *rest = text, *kept = calloc(1, strlen(text) + 2);
  for (char *line; (line = strsep(&rest, "\n"));)
    if (!is_counter(line)) strcat(strcat(kept, line), "\n");
  free(text);
  return kept;
}
static void status(void) {
  free(status_without_counters());
  char *was = status_without_counters();
  hold();
  same_lines("/proc/self/status", was, status_without_counters());
}

/* All fields of /proc/self/stat that are no counters: by their numbers in proc(5). */
static void stat_fields(void) {
  static const int steady[] = {4,  5,  6,  7,  8,  9,  18, 19, 20, 22, 25, 26, 27, 28,
                               31, 32, 33, 34, 38, 40, 41, 45, 46, 47, 48, 49, 50, 51};
  char was[60][32] = {{0}}, is[60][32] = {{0}}, (*fields)[32] = was;
  for (int round = 0; round < 2; round++, fields = is) {
    if (round) hold();
    char *rest = strrchr(slurp("/proc/self/stat"), ')') + 2, *word;
    for (int number = 3; (word = strsep(&rest, " ")) && number < 60; number++) snprintf(fields[number], 32, "%s", word);
  }
  for (size_t i = 0; i < sizeof steady / sizeof *steady; i++) {
    char what[40];
    snprintf(what, sizeof what, "field %d of stat", steady[i]);
    same_text(what, was[steady[i]], is[steady[i]]);
  }
}

/* Whether it is the first line of an area: two addresses. */
static bool begins_area(const char *line) {
  while (isxdigit((unsigned char)*line)) line++;
  return *line == '-';
}

struct area {
  unsigned long start, end;
  char what[500]; /* permissions, name, flags */
};

/* Areas next to each other that differ in nothing but their addresses and offsets are one; in a copy, the kernel may
 * have joined them, and counts the pages of a file that was mapped to be written ("ac"). */
static char *joined(char *text) {
  static struct area all[4096];
  size_t count = 0, room = strlen(text) + 200, length = 0;
  char *rest = text, *kept = calloc(1, room);
  for (char *line; (line = strsep(&rest, "\n"));) {
    char permissions[8] = "", name[300] = "", *flag;
    if (begins_area(line) && count < 4096) {
      sscanf(line, "%lx-%lx %7s %*s %*s %*s %299s", &all[count].start, &all[count].end, permissions, name);
      snprintf(all[count++].what, sizeof all->what, "%s %s", permissions, name);
    } else if (count && *line) {
      while ((flag = strstr(line, " ac"))) memmove(flag, flag + 3, strlen(flag + 3) + 1);
      strncat(all[count - 1].what, line, 100);
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (i + 1 < count && all[i].end == all[i + 1].start && !strcmp(all[i].what, all[i + 1].what)) {
      all[i + 1].start = all[i].start;
      continue;
    }
    length += (size_t)snprintf(kept + length, room - length, "%lx-%lx %s\n", all[i].start, all[i].end, all[i].what);
  }
  free(text);
  return kept;
}

static void same_areas(const char *what, char *before, char *after) {
  if (is_copy())
    same_lines(what, joined(before), joined(after));
  else
    same_lines(what, before, after);
}

static void maps(void) {
  free(slurp("/proc/self/maps"));
  char *was = slurp("/proc/self/maps");
  hold();
  same_areas("/proc/self/maps", was, slurp("/proc/self/maps"));
}

/* Flags, sharing and advice of every area. */
static char *areas(void) {
  char *text = slurp("/proc/self/smaps"), *rest = text, *kept = calloc(1, strlen(text) + 2);
  for (char *line; (line = strsep(&rest, "\n"));)
    if (strstr(line, "VmFlags") || begins_area(line)) strcat(strcat(kept, line), "\n");
  free(text);
  return kept;
}
/* Memory that is tracked is told by its flags, as that of a program with a userfaultfd. */
static void tracked_memory(void) {
  hold();
  EXPECT(strstr(areas(), " uw ") == NULL);
}
static void area_flags(void) {
  free(areas());
  char *was = without_tracking(areas());
  hold();
  same_areas("/proc/self/smaps", was, without_tracking(areas()));
}

static void executable(void) {
  struct stat was, is;
  char path[300] = "", path_is[300] = "";
  MUST(stat("/proc/self/exe", &was));
  MUST(readlink("/proc/self/exe", path, sizeof path - 1));
  hold();
  MUST(stat("/proc/self/exe", &is));
  MUST(readlink("/proc/self/exe", path_is, sizeof path_is - 1));
  same("inode of the executable", (long)was.st_ino, (long)is.st_ino);
  same("device of the executable", (long)was.st_dev, (long)is.st_dev);
  same_text("its path", path, path_is);
  EXPECT(system("exec /proc/$PPID/exe list > /dev/null") == 0);
}

/* Nobody charges a sleeping process for the snapshot, and its memory stays in memory. */
static void used_resources(void) {
  struct rusage was, is;
  getrusage(RUSAGE_SELF, &was);
  hold();
  getrusage(RUSAGE_SELF, &is);
  EXPECT(is.ru_utime.tv_sec - was.ru_utime.tv_sec <= 1);
  EXPECT(is.ru_utime.tv_sec >= was.ru_utime.tv_sec && is.ru_minflt >= was.ru_minflt);
  EXPECT(is.ru_nvcsw >= was.ru_nvcsw && is.ru_maxrss >= was.ru_maxrss);
  same("major faults", was.ru_majflt, is.ru_majflt);
}

const struct program own_view_programs[] = {
    {"status", status},
    {"stat-fields", stat_fields},
    {"maps", maps},
    {"tracked-memory", tracked_memory},
    {"area-flags", area_flags},
    {"executable", executable},
    {"used-resources", used_resources},
    {0},
};
