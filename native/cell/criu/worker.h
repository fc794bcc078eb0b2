/* One job of CRIU: what the parts of a worker share. */
#pragma once

#include <linux/stat.h>
#include <sys/stat.h>

#include "attributes.h"
#include "jail.h"
#include "pairs.h"
#include "rpc.h"
#include "spec.h"
#include "waits.h"

struct block {
  uint32_t length;
  char *bytes;
};

/* stall.c: what CRIU has done so far, and for how many seconds it has done nothing. */
struct progress {
  uint64_t ran, written;
  unsigned idle_s, silent_s;
};

struct job {
  struct spec spec;
  bool is_dump;
  bool stalled; /* CRIU was ended, because it did nothing for too long */
  struct progress progress;
  bool is_locked;      /* the network, until all TCP connections are restored */
  pid_t first;         /* of the restored processes; CRIU names it only at the first step */
  struct statx socket; /* that the restored agent listens on */
  struct waits waits;  /* of the restored processes */
  struct attributes attributes;
  struct spots spots;
};

/* Whether the restored threads must be stopped once more, to put something right in them. */
static inline bool needs_stop(const struct job *job) { return job->waits.count || job->attributes.needs_stop; }

/* criu-process.c */
struct criu {
  pid_t pid;
  int socket;
  int process; /* becomes readable when CRIU ends */
  int jailed;  /* gives a byte when CRIU is in its jail, or the end if it did not get there */
};

struct criu start_criu(const struct spec *spec, char **program);
/* Waits until CRIU is in its jail. */
struct jail open_jail(const struct criu *criu);
void send_request(const struct criu *criu, const struct block *request);

/* conversation.c: talks with CRIU until it is done. False if it went away. */
bool converse(const struct criu *criu, struct job *job, struct answer *answer);

/* restore.c */
struct mapping_holders {
  pid_t cell, disk; /* see start_mapping */
};

/* REST are the blocks after the request: names to check, and images to replace. */
int restore(const struct criu *criu, struct job *job, const struct jail *jail, struct mapping_holders holders,
            const struct block *request, struct block *rest);

/* stall.c. Called every second. */
bool has_stalled(struct progress *progress, pid_t criu);
void end_stalled(const struct criu *criu, const struct spec *spec);

/* vforks.c */
struct vfork {
  pid_t parent, child; /* as the host sees them; the child is 0 if it is unknown */
};

/* Whether some thread of this frozen cgroup waits for the child of a vfork. */
bool find_vfork(const char *cgroup, struct vfork *found);

/* worker.c */
int run_worker(const struct spec *prepared, char **program);
/* Takes the next block out of another one. Empty at the end. */
struct block take_block(struct block *from);
/* Answers the job with the reason. Returns the exit status. */
int fail_job(const struct answer *answer, bool answered);
