/* What the holder and the tracker share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/error.h"
#include "tracking.h"

/* arm.c: one process whose writes are tracked. */
struct tracked {
  pid_t pid;
  int process;          /* a pidfd */
  int faults;           /* its userfaultfd */
  char name[MOST_NAME]; /* of the snapshot since which writes are known; empty: none */
};

/* Why this kernel cannot track writes; NULL if it can. */
const char *why_not_trackable(void);
/* Whether the descriptor still belongs to the memory of a process: not after it has ended or become another program. */
bool is_current(const struct tracked *tracked);
/* Makes the kernel track all private memory of a stopped process from now on. Writes the pages that it armed to NOTES,
 * unless that is -1. */
int arm(const struct tracked *tracked, int notes, struct error *error);

/* protocol.c: a request to the holder is one packet, and so is each part of an answer. */
enum kind { HOLD, LIST, ARM, NAME, END };

struct request {
  uint32_t kind;
  int32_t pid;          /* HOLD: of the process whose userfaultfd comes along; ARM: a file for notes may come along */
  char name[MOST_NAME]; /* ARM, NAME: the snapshot */
};

/* LIST: many of these; the last one has no pid. */
struct listed {
  int32_t pid;
  char name[MOST_NAME];
};

#define LISTED_AT_ONCE 256

/* ARM */
struct armed {
  uint32_t processes;
};

/* Pages that were armed, or copied, in a file of notes. */
struct page_note {
  uint64_t pid, start, end;
};

/* track.c: false with errno if the holder does not answer. */
bool get_list(int holder, struct list *list);
const struct listed *find_listed(const struct list *list, pid_t pid); /* or NULL */
int open_notes(const char *directory, int flags);

/* -1 with errno. DIRECTORY is the life's own. */
int listen_in(const char *directory);
int connect_in(const char *directory);
bool send_packet(int socket, const void *bytes, size_t length, int descriptor);
/* The number of bytes; 0 at the end; -1 with errno. */
ssize_t receive_packet(int socket, void *bytes, size_t length, int *descriptor);

/* holder.c: starts a holder for the life in DIRECTORY, which ends with the process AGENT. False with errno. */
bool start_holder(const char *directory, pid_t agent);
