/* One dump or restore by a CRIU that is already loaded: what does not depend on the job is done
 * before it comes, so that the caller waits only for the rest.
 *
 * The job comes on stdin as two blocks, each a 32-bit length and that many bytes: arguments that end
 * with NUL (see parse_options), and a block of blocks, which are CRIU's request, the names in its images
 * (see names.c), and the name and content of each image that is to be another one for this job. The answer
 * is a line on stdout:
 *
 *   done                            a dump
 *   restored PID DEV INODE BIRTH    the first process, and what the agent bound as its socket
 *   failed MESSAGE
 *
 * End of input means that the caller is gone: an idle worker ends, a restore is called off, and a
 * dump goes on, because CRIU has code in the processes that it is working on. */
#define _GNU_SOURCE
#include "jail.h"
#include "rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES (16 << 20) /* also in keeper.c */
#define MOST_ARGUMENTS 2048
#define PATIENCE_MS 1000
#define AGENT_SOCKET JAIL_STAGE "/run/agent.sock"
#define FLAG_EXITING 4 /* the kernel's PF_EXITING, in /proc/PID/stat */

struct block {
  uint32_t length;
  char *bytes;
};

static void read_all(void *to, size_t length) {
  for (size_t used = 0; used < length;) {
    ssize_t n = read(STDIN_FILENO, (char *)to + used, length - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0);
    used += (size_t)n;
  }
}

static struct block read_block(void) {
  struct block block;
  read_all(&block.length, sizeof block.length);
  if (block.length > MOST_BYTES) die_usage("a job is too long", NULL);
  block.bytes = calloc(1, block.length + 1);
  if (!block.bytes) die("calloc", "job");
  read_all(block.bytes, block.length);
  return block;
}

static void parse_arguments(struct spec *spec, const struct block *block) {
  static char *argv[MOST_ARGUMENTS + 1];
  int argc = 0;
  argv[argc++] = "job";
  for (char *at = block->bytes; at < block->bytes + block->length; at += strlen(at) + 1) {
    if (argc == MOST_ARGUMENTS) die_usage("too many arguments", at);
    argv[argc++] = at;
  }
  parse_options(spec, argc, argv);
}

/* The next block within another; empty at its end. */
static struct block take_block(struct block *from) {
  struct block block = {0};
  if (from->length < sizeof block.length) return block;
  memcpy(&block.length, from->bytes, sizeof block.length);
  block.bytes = from->bytes + sizeof block.length;
  if (block.length > from->length - sizeof block.length) die_usage("a block is longer than its job", NULL);
  from->bytes = block.bytes + block.length;
  from->length -= (uint32_t)sizeof block.length + block.length;
  return block;
}

struct criu {
  pid_t pid;
  int socket;
  int process; /* a descriptor that becomes readable when it ends */
  int jailed;  /* a byte comes when it is in its jail, and the end if it did not get there */
};

static struct criu start_criu(const struct spec *spec, char **program) {
  int ends[2], jailed[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) die("socketpair", "criu");
  if (pipe2(jailed, O_CLOEXEC)) die("pipe2", "criu");
  pid_t pid = fork();
  if (pid < 0) die("fork", program[0]);
  if (pid == 0) {
    close(ends[0]);
    /* Its output is no answer of ours, and its input no job. */
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      die("dup2", "/dev/null");
    enter_jail(spec);
    if (write(jailed[1], "", 1) != 1) die("write", "jailed");
    bound_namespace();
    if (spec->preload && setenv("LD_PRELOAD", spec->preload, 1)) die("setenv", spec->preload);
    /* Otherwise symbols are looked up during the job, in each of its processes anew. */
    if (setenv("LD_BIND_NOW", "1", 1)) die("setenv", "LD_BIND_NOW");
    char number[16];
    snprintf(number, sizeof number, "%d", ends[1]);
    char *argv[64];
    size_t count = 0;
    for (; program[count]; count++) {
      if (count > 60) die_usage("too many words", program[0]);
      argv[count] = program[count];
    }
    argv[count++] = "swrk";
    argv[count++] = number;
    argv[count] = NULL;
    execv(argv[0], argv);
    die("execv", argv[0]);
  }
  close(ends[1]);
  close(jailed[1]);
  struct criu criu = {
      .pid = pid, .socket = ends[0], .process = (int)syscall(SYS_pidfd_open, pid, 0), .jailed = jailed[0]};
  if (criu.process < 0) die("pidfd_open", program[0]);
  return criu;
}

static struct jail open_jail(const struct criu *criu) {
  char byte;
  if (read(criu->jailed, &byte, 1) != 1) _exit(1); /* what failed was told */
  close(criu->jailed);
  return (struct jail){.inside = open_mounts(criu->pid), .outside = open_mounts(getpid())};
}

/* CRIU writes its log where descriptor 100 of its caller leads. */
static void open_work_directory(const struct jail *jail) {
  move_to(jail->inside);
  int dir = open(JAIL_TMP, O_PATH | O_DIRECTORY);
  if (dir < 0 || dup2(dir, WORK_DIRECTORY) < 0) die("open", JAIL_TMP);
  close(dir);
  move_to(jail->outside);
}

static void replace_images(const struct jail *jail, const char *images, struct block *replacements) {
  move_to(jail->inside);
  while (replacements->length) {
    struct block name = take_block(replacements), content = take_block(replacements);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.*s", images, (int)name.length, name.bytes);
    replace_file(path, content.bytes, content.length);
  }
  move_to(jail->outside);
}

static void show_groups(const struct jail *jail, const struct birth *birth) {
  for (size_t i = 0; i < birth->count; i++)
    if (birth->groups[i].leave) show(jail, birth->groups[i].leave, 0);
}

/* For preload/first-process.c. */
static void write_birth(const struct birth *birth) {
  FILE *file = fopen(JAIL_BIRTH, "we");
  if (!file) die("create", JAIL_BIRTH);
  fprintf(file, "%u\n", birth->owner);
  for (size_t i = 0; i < birth->count; i++) {
    fprintf(file, "%s", birth->groups[i].enter);
    fprintf(file, birth->groups[i].leave ? "\t%s\n" : "\n", birth->groups[i].leave);
  }
  if (fclose(file)) die("write", JAIL_BIRTH);
}

/* The log went into the jail; who asks why finds it in the environment's directory. */
static void keep_log(int directory) {
  char bytes[65536];
  int from = open(JAIL_TMP "/restore.log", O_RDONLY | O_CLOEXEC);
  int to = openat(directory, "restore.log", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  for (ssize_t n; from >= 0 && to >= 0 && (n = read(from, bytes, sizeof bytes)) > 0;)
    if (write(to, bytes, (size_t)n) != n) break;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

static struct {
  struct spec spec;
  pid_t first; /* restored process; CRIU names it only at the first step */
  struct statx socket;
} job;

static void say_restored(void) {
  const struct statx *socket = &job.socket;
  printf("restored %d %llu %llu %llu\n", job.first,
         (unsigned long long)makedev(socket->stx_dev_major, socket->stx_dev_minor), (unsigned long long)socket->stx_ino,
         socket->stx_btime.tv_sec * 1000000000ULL + socket->stx_btime.tv_nsec);
  fflush(stdout);
}

static void reach_step(const char *step, pid_t pid) {
  if (!strcmp(step, "setup-namespaces")) {
    job.first = pid;
    join_cgroups(&job.spec, pid); /* before it has children */
    set_up_network(&job.spec, pid);
  }
  if (!strcmp(step, "post-setup-namespaces")) set_hostname(job.spec.hostname, job.first);
  if (!strcmp(step, "pre-resume")) {
    /* Before the first restored instruction: afterwards the sandbox could have put something else there. */
    if (statx(AT_FDCWD, AGENT_SOCKET, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &job.socket))
      die("statx", AGENT_SOCKET);
    mask_made_cell(job.first);
    if (job.spec.hold) set_frozen(job.spec.cgroups[0], true);
  }
  /* They run, and CRIU has let go of all of them: its own end takes longer. */
  if (!strcmp(step, "post-resume")) say_restored();
}

static bool caller_is_gone(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  char byte;
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static bool is_ending(pid_t pid) {
  char path[32], line[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *stat = fopen(path, "re");
  if (!stat) return true;
  const char *name_end = fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
  fclose(stat);
  unsigned flags;
  return !name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & FLAG_EXITING;
}

/* Its socket does not tell that CRIU was killed: what it had restored so far has it open, too. And if they
 * were killed while it traced them, CRIU waits for the first one for ever, which waits for the others, which
 * wait for their tracer. */
static ssize_t hear(struct criu criu, uint8_t *message, size_t size) {
  struct pollfd either[] = {{.fd = criu.socket, .events = POLLIN}, {.fd = criu.process, .events = POLLIN}};
  for (int heard; (heard = poll(either, 2, PATIENCE_MS)) <= 0;) {
    if (heard < 0 && errno != EINTR) die("poll", "criu");
    if (heard == 0 && job.first && is_ending(job.first)) syscall(SYS_pidfd_send_signal, criu.process, SIGKILL, NULL, 0);
  }
  return recv(criu.socket, message, size, MSG_DONTWAIT);
}

/* Until CRIU is done; false if it went away. */
static bool converse(struct criu criu, struct answer *answer) {
  static uint8_t message[65536];
  for (;;) {
    ssize_t length = hear(criu, message, sizeof message);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return false;
    read_answer(message, (size_t)length, answer);
    if (!answer->notifies) return true;
    bool goes_on = !caller_is_gone();
    if (goes_on) reach_step(answer->script, answer->pid);
    /* After a refusal of the last step CRIU would only log it, and let them run. */
    if (!goes_on && job.first) kill(job.first, SIGKILL);
    if (!answer_notification(criu.socket, goes_on)) return false;
  }
}

/* Half-restored processes wait for a CRIU that is gone; orphans of ours come to us. */
static void end_orphans(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  do {
    FILE *children = fopen(path, "re");
    for (int pid; children && fscanf(children, "%d", &pid) == 1;) kill(pid, SIGKILL);
    if (children) fclose(children);
    if (job.spec.hold) let_killed_end(job.spec.cgroups[0]);
  } while (waitpid(-1, NULL, 0) > 0);
}

static int take_lock(const char *directory) {
  int fd = open(directory, O_RDONLY | O_DIRECTORY);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) die("lock", directory);
  return fd;
}

static void ask(struct criu criu, const struct block *request) {
  if (send(criu.socket, request->bytes, request->length, MSG_NOSIGNAL) != (ssize_t)request->length)
    die("send", "criu");
}

static int fail(const struct answer *answer, bool answered) {
  printf("failed %s\n", answered ? answer->message : "criu went away");
  return 1;
}

static int dump(struct criu criu, const struct jail *jail, const struct block *request) {
  int lock = take_lock(job.spec.images);
  show(jail, job.spec.images, MOUNT_ATTR_NOEXEC);
  ask(criu, request);
  struct answer answer = {0};
  bool answered = converse(criu, &answer);
  if (!answered || !answer.success) return fail(&answer, answered);
  close(lock); /* first: who reads this may dump into the same directory at once */
  printf("done\n");
  return 0;
}

struct mapping_holders {
  pid_t cell, disk;
};

static int restore(struct criu criu, const struct jail *jail, struct mapping_holders holders,
                   const struct block *request, struct block *rest) {
  require_cell(&job.spec);
  if (job.spec.cgroup_count) limit_devices(job.spec.cgroups[0]);
  struct block names = take_block(rest);
  show(jail, job.spec.images, MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);
  replace_images(jail, job.spec.images, rest);
  open_work_directory(jail);
  ask(criu, request); /* while we do the rest it gets ready; before it makes a process, it waits for an answer */
  struct mappings mappings = {map_cell_ids(&job.spec, holders.cell), map_disk_ids(&job.spec, holders.disk)};
  struct doorway groups[MOST_GROUPS];
  struct birth birth = {.owner = job.spec.id_base, .count = groups_to_enter(&job.spec, groups), .groups = groups};
  show_groups(jail, &birth);
  stage_mounts(&job.spec, mappings); /* it goes to the environment's directory */
  require_mountpoints();
  check_names(names.bytes, names.length);
  int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  show_stage(jail);
  write_birth(&birth);
  struct answer answer = {0};
  bool answered = converse(criu, &answer);
  if (answered && answer.success) return 0;
  end_orphans();
  keep_log(directory);
  return fail(&answer, answered);
}

/* A worker whose CRIU did not even start is of no use. */
static void await_job(struct criu criu) {
  struct pollfd either[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = criu.process, .events = POLLIN}};
  while (poll(either, 2, -1) < 0)
    if (errno != EINTR) die("poll", "job");
  if (either[1].revents) _exit(1);
}

int run_worker(const struct spec *prepared, char **program) {
  if (!*program) die_usage("needs a program after --", NULL);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  enter_private_mounts();
  struct criu criu = start_criu(prepared, program);
  struct mapping_holders holders = {start_mapping(), start_mapping()};
  await_job(criu);
  struct block arguments = read_block(), work = read_block();
  job.spec = *prepared;
  parse_arguments(&job.spec, &arguments);
  struct jail jail = open_jail(&criu);
  if (!job.spec.images) die_usage("needs --images", NULL);
  for (size_t i = 0; i < job.spec.cgroup_count; i++) show(&jail, job.spec.cgroups[i], 0);
  struct block request = take_block(&work);
  return job.spec.layer_count ? restore(criu, &jail, holders, &request, &work) : dump(criu, &jail, &request);
}
