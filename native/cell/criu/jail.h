/* The place that CRIU runs in, see jail.c. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "spec.h"

#define JAIL_STAGE "/stage"
#define JAIL_TMP "/tmp"
#define JAIL_CONFIG JAIL_TMP "/criu.conf"  /* also in src/criu/criu-request.ts */
#define JAIL_TRACKING JAIL_TMP "/tracking" /* also in preload/clean-pages.c */
#define JAIL_BIRTH JAIL_TMP "/birth"       /* also in preload/first-process.c */

/* Two mount namespaces: CRIU's inside the jail, and the worker's outside, which has all mounts of the host. */
struct jail {
  int inside, outside;
};

/* Called by the process that becomes CRIU. */
void enter_jail(const struct spec *spec);
int open_mounts(pid_t pid);
void move_to(int mounts);
/* Makes PATH available inside, too. Called by the worker, which is outside before and after. */
void show(const struct jail *jail, const char *path, uint64_t attributes);
/* Makes what is mounted on `stage` outside available on JAIL_STAGE. Leaves the worker inside. */
void show_stage(const struct jail *jail);
/* Inside: whoever opens PATH reads these bytes. */
void replace_file(const char *path, const void *bytes, size_t length);
