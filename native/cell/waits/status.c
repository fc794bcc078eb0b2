#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "waits.h"

/* The last number of a line: that of the innermost namespace. */
static int last_number(const char *text, const char *name) {
  const char *line = strstr(text, name), *end = line ? strchr(line + 1, '\n') : NULL;
  while (end && end > line && *end != '\t') end--;
  return end ? atoi(end) : 0;
}

bool read_status(pid_t process, pid_t thread, struct status *status) {
  char text[4096];
  *status = (struct status){0};
  if (!read_proc(process, thread, "status", text, sizeof text)) return false;
  const char *switches = strstr(text, "\nvoluntary_ctxt_switches:");
  if (switches) sscanf(switches, "\nvoluntary_ctxt_switches: %lu", &status->sleeps);
  status->process = last_number(text, "\nNStgid:");
  status->thread = last_number(text, "\nNSpid:");
  return status->process && status->thread;
}
