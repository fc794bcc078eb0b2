/* Mounts that need the host's privileges, in a private mount namespace. */
#pragma once

#include <stdint.h>

#include "spec.h"

#define ENV_SOCKET_DIR "run/forkpoint"
#define PAGES_DIR ".forkpoint/pages"

/* User namespaces that shift the ids of mounts: `cell` those of the host, `disk` those that all cells have on
 * disk. */
struct mappings {
  int cell, disk;
};

void enter_private_mounts(void);
/* Mounts what SPEC describes below `stage` in the environment's directory, and stays in that directory. */
void stage_mounts(const struct spec *spec, struct mappings mappings);
/* A detached copy of the mount at PATH. Its ids are shifted unless USER_NAMESPACE is -1. */
int clone_mount(const char *path, int user_namespace, uint64_t extra_attributes);
void attach(int mount, const char *to);
void make_directory(const char *path); /* unless it exists */
