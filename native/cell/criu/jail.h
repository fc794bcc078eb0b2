/* The place that CRIU runs in, see jail.c. */
#pragma once

#include "cell.h"

#define JAIL_STAGE "/stage"
#define JAIL_TMP "/tmp"
#define JAIL_BIRTH JAIL_TMP "/birth" /* also in preload/first-process.c */

/* Two mount namespaces: the one of CRIU, and the one of the worker with all that the host has. */
struct jail {
  int inside, outside;
};

/* For the process that becomes CRIU. */
void enter_jail(const struct spec *spec);
int open_mounts(pid_t pid);
void move_to(int mounts);
/* For the worker, who is outside before and after: PATH is there inside as well. */
void show(const struct jail *jail, const char *path, uint64_t attributes);
/* What is mounted on `stage` here is on JAIL_STAGE there. The worker is inside afterwards. */
void show_stage(const struct jail *jail);
/* Inside: whoever opens PATH finds these bytes. */
void replace_file(const char *path, const void *bytes, size_t length);
