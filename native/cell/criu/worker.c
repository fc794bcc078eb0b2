/* One dump or restore by a CRIU that is already loaded. Everything that does not depend on the job is done before it
 * comes, so that the caller waits only for the rest.
 *
 * The job comes on stdin as two blocks, each a 32-bit length and that many bytes: options that end with NUL (see
 * options.c), and a block of further blocks. Those are CRIU's request, the names in its images (see names.c), and for
 * each image that this job replaces its name and content. The answer is a line on stdout:
 *
 *   done                            a dump
 *   vfork PARENT CHILD              a dump is impossible while these two run
 *   restored PID DEV INODE BIRTH    the first process, and the socket of its agent
 *   stalled                         CRIU did nothing for too long, and was ended
 *   failed MESSAGE
 *
 * End of input means that the caller is gone: an idle worker ends, and a restore is called off. A dump continues,
 * because CRIU has put code into the processes that it works on. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "io.h"
#include "report.h"
#include "stage.h"
#include "walls.h"

#define MOST_ARGUMENTS 2048

/* The end of input means that the keeper is gone, or has no job for this worker. */
static void read_input(void *to, size_t length) {
  if (!read_all(STDIN_FILENO, to, length)) _exit(0);
}

static struct block read_block(void) {
  struct block block;
  read_input(&block.length, sizeof block.length);
  if (block.length > MOST_BYTES) die_because("a job has %u bytes, which is too many", block.length);
  block.bytes = require_memory(calloc(1, (size_t)block.length + 1));
  read_input(block.bytes, block.length);
  return block;
}

static void parse_arguments(struct spec *spec, const struct block *block) {
  static char *words[MOST_ARGUMENTS + 1];
  size_t count = 0;
  for (char *at = block->bytes; at < block->bytes + block->length; at += strlen(at) + 1) {
    if (count == MOST_ARGUMENTS) die_because("a job has more than %d options: %s", MOST_ARGUMENTS, at);
    words[count++] = at;
  }
  parse_options(spec, words);
}

struct block take_block(struct block *from) {
  struct block block = {0};
  if (from->length < sizeof block.length) return block;
  memcpy(&block.length, from->bytes, sizeof block.length);
  block.bytes = from->bytes + sizeof block.length;
  if (block.length > from->length - sizeof block.length) die_because("a block is longer than its job");
  from->bytes = block.bytes + block.length;
  from->length -= (uint32_t)sizeof block.length + block.length;
  return block;
}

/* Waits for whoever still looks at the frozen processes (see waits/verb.c), or for an earlier dump. */
static int take_lock(const char *directory) {
  int fd = open(directory, O_RDONLY | O_DIRECTORY);
  if (fd < 0) die("open '%s'", directory);
  if (flock(fd, LOCK_EX)) die("flock '%s'", directory);
  return fd;
}

int fail_job(const struct answer *answer, bool answered) {
  printf("failed %s\n", answered ? answer->message : "CRIU went away");
  return 1;
}

/* preload/clean-pages.c finds it there. */
static void show_tracking(const struct jail *jail, const char *directory) {
  show(jail, directory, MOUNT_ATTR_NOEXEC);
  move_to(jail->inside);
  if (symlink(directory, JAIL_TRACKING)) die("symlink '%s'", JAIL_TRACKING);
  move_to(jail->outside);
}

static int give_up_on(const struct vfork *vfork) {
  printf("vfork %d %d\n", vfork->parent, vfork->child);
  return 1;
}

static int dump(const struct criu *criu, struct job *job, const struct jail *jail, const struct block *request) {
  int lock = take_lock(job->spec.images);
  struct vfork vfork;
  /* One look is enough, because nothing here runs. CRIU must not have begun: it thaws the group once it traces all. */
  if (job->spec.cgroup_count && find_vfork(job->spec.cgroups[0], &vfork)) return give_up_on(&vfork);
  show(jail, job->spec.images, MOUNT_ATTR_NOEXEC);
  if (job->spec.tracking) show_tracking(jail, job->spec.tracking);
  send_request(criu, request);
  struct answer answer = {0};
  job->is_dump = true;
  bool answered = converse(criu, job, &answer);
  if (job->stalled) {
    printf("stalled\n");
    return 1;
  }
  if (!answered || !answer.success) return fail_job(&answer, answered);
  close(lock); /* before the answer, as its reader may dump to the same directory at once */
  printf("done\n");
  return 0;
}

/* Ends the worker if its CRIU did not even start. */
static void await_job(const struct criu *criu) {
  struct pollfd either[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = criu->process, .events = POLLIN}};
  while (poll(either, 2, -1) < 0)
    if (errno != EINTR) die("poll for a job");
  if (either[1].revents) _exit(1);
}

int run_worker(const struct spec *prepared, char **program) {
  static struct job job;
  if (!*program) die_because("a worker needs the CRIU program after --");
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  enter_private_mounts();
  struct criu criu = start_criu(prepared, program);
  struct mapping_holders holders = {start_mapping(), start_mapping()};
  await_job(&criu);
  struct block arguments = read_block(), work = read_block();
  job.spec = *prepared;
  parse_arguments(&job.spec, &arguments);
  struct jail jail = open_jail(&criu);
  if (!job.spec.images) die_because("a job needs --images");
  for (size_t i = 0; i < job.spec.cgroup_count; i++) show(&jail, job.spec.cgroups[i], 0);
  struct block request = take_block(&work);
  return job.spec.layer_count ? restore(&criu, &job, &jail, holders, &request, &work)
                              : dump(&criu, &job, &jail, &request);
}
