/* What a cell is made of, as the options of the command line describe it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/clone-into.h"

#define CELL_MAX_LAYERS 500 /* the kernel's own limit for OverlayFS */
#define CELL_MAX_CGROUPS MOST_GROUPS
#define CELL_MAX_SHOWN 8

struct layer {
  const char *path;
  bool host_ids; /* its files have host ids: mount it idmapped */
};

struct spec {
  const char *env;      /* the environment's directory: run/, stage/, and upper/ and work/ without `files` */
  const char *files;    /* subvolume to make for upper/ and work/, or NULL */
  const char *files_of; /* snapshot to make `files` from; NULL: they begin empty */
  const char *root;     /* mode (octal), owner and group of / in empty files, MODE:UID:GID; NULL: 755 and root */
  const char *dev;      /* template that is bound at /dev */
  const char *pages;    /* directory of memory pages to map, or NULL */
  const char *kdat;     /* tmpfs directory that becomes /run for CRIU */
  const char *hostname;
  const char *veth;           /* name of the host's interface, NULL without a network */
  const char *address;        /* inside the cell, A.B.C.D */
  const char *gateway;        /* the host's address */
  uint32_t prefix;            /* length, of both addresses */
  uint32_t pid;               /* of a running cell, for `connect` */
  const char *preload;        /* library to load into CRIU */
  const char *images;         /* directory that CRIU dumps to or restores from */
  const char *attributes;     /* file of what CRIU does not keep (attributes.h), or NULL */
  const char *waits;          /* file of the waits that restored processes continue, or NULL */
  const char *pairs;          /* file of the device numbers that restored processes remember, or NULL */
  const char *tracking;       /* directory of what is known about pages (preload/clean-pages.c), or NULL */
  bool connections;           /* TCP connections are restored */
  bool hold;                  /* freeze the restored processes before they run */
  uint32_t id_base, id_count; /* of this cell */
  uint32_t disk_base;         /* of all cells' files, on disk */
  bool no_new_privs;
  size_t layer_count, cgroup_count, shown_count;
  struct layer layers[CELL_MAX_LAYERS];  /* topmost first */
  const char *cgroups[CELL_MAX_CGROUPS]; /* directories to join; the v2 one first */
  const char *shown[CELL_MAX_SHOWN];     /* host paths that CRIU needs, read-only */
};

/* Adds the options in WORDS to SPEC. Returns the first word after them, or after "--". */
char **parse_options(struct spec *spec, char **words);
/* The same where nothing may follow the options. */
void parse_all_options(struct spec *spec, char **words);
/* Fails unless SPEC has enough to make a cell. */
void require_cell(const struct spec *spec);
pid_t parse_pid(const char *text);
