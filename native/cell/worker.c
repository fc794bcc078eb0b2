/* One dump or restore by a CRIU that is already loaded: what does not depend on the job is done
 * before it comes, so that the caller waits only for the rest.
 *
 * The job comes on stdin as two blocks, each a 32-bit length and that many bytes: arguments that end
 * with NUL (see parse_options), and CRIU's request. The answer is a line on stdout:
 *
 *   done                            a dump
 *   restored PID DEV INODE BIRTH    the first process, and what the agent bound as its socket
 *   failed MESSAGE
 *
 * End of input means that the caller is gone: an idle worker ends, a restore is called off, and a
 * dump goes on, because CRIU has code in the processes that it is working on. */
#define _GNU_SOURCE
#include "cell.h"
#include "rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES (1 << 20)
#define MOST_ARGUMENTS 2048
#define PATIENCE_MS 1000
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

/* CRIU probes the kernel on every call unless /run is a tmpfs that keeps the answer. It lies where anybody
 * may make directories, and who can change it can have root write where it should not. */
static void provide_run(const struct spec *spec) {
  if (!spec->kdat) die_usage("needs --kdat", NULL);
  int fd = open(spec->kdat, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info)) die("open", spec->kdat);
  if (info.st_uid || info.st_mode & 022) die_usage("not a directory that only root can change", spec->kdat);
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  if (mount(own, "/run", NULL, MS_BIND, NULL)) die("bind on /run", spec->kdat);
  close(fd);
}

/* Where CRIU builds its mounts (see preload/mount-roots.c); it goes with the namespace. */
static void provide_workplace(void) {
  if (mkdir(CRIU_WORKPLACE, 0755) && errno != EEXIST) die("mkdir", CRIU_WORKPLACE);
  if (mount("tmp", CRIU_WORKPLACE, "tmpfs", 0, "size=1m,mode=0755")) die("mount tmpfs on", CRIU_WORKPLACE);
}

struct criu {
  int socket;
  int process; /* a descriptor that becomes readable when it ends */
};

static struct criu start_criu(char **program, const char *preload) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) die("socketpair", "criu");
  pid_t pid = fork();
  if (pid < 0) die("fork", program[0]);
  if (pid == 0) {
    close(ends[0]);
    /* Its output is no answer of ours, and its input no job. */
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      die("dup2", "/dev/null");
    if (preload && setenv("LD_PRELOAD", preload, 1)) die("setenv", preload);
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
  struct criu criu = {.socket = ends[0], .process = (int)syscall(SYS_pidfd_open, pid, 0)};
  if (criu.process < 0) die("pidfd_open", program[0]);
  return criu;
}

/* What CRIU restores opens the stage as the sandbox's root, which may not pass
 * through the directories above the store; it can pass through /run. */
static void stage(const struct spec *spec, int user_namespace) {
  stage_mounts(spec, user_namespace);
  if (mkdir(CRIU_STAGE, 0755) && errno != EEXIST) die("mkdir", CRIU_STAGE);
  if (mount("stage", CRIU_STAGE, NULL, MS_BIND | MS_REC, NULL)) die("bind", CRIU_STAGE);
}

/* CRIU writes its log where descriptor 100 of its caller leads. */
static void open_work_directory(const char *path) {
  int dir = open(path, O_PATH | O_DIRECTORY);
  if (dir < 0 || dup2(dir, WORK_DIRECTORY) < 0) die("open", path);
  close(dir);
}

/* For preload/cgroups.c. */
static void list_cgroups(const struct spec *spec) {
  struct doorway groups[MOST_GROUPS];
  size_t count = groups_to_enter(spec, groups);
  FILE *list = fopen(CRIU_WORKPLACE "/cgroups", "we");
  if (!list) die("create", CRIU_WORKPLACE "/cgroups");
  for (size_t i = 0; i < count; i++) {
    fprintf(list, "%s", groups[i].enter);
    fprintf(list, groups[i].leave ? "\t%s\n" : "\n", groups[i].leave);
  }
  if (fclose(list)) die("write", CRIU_WORKPLACE "/cgroups");
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
    if (statx(AT_FDCWD, job.spec.socket, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &job.socket))
      die("statx", job.spec.socket);
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

/* The descriptor that holds it, -1 without one. */
static int take_lock(const char *directory) {
  if (!directory) return -1;
  int fd = open(directory, O_RDONLY | O_DIRECTORY);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) die("lock", directory);
  return fd;
}

/* The lock goes first: who reads this may dump into the same directory at once. */
static int say_dumped(int lock) {
  close(lock);
  printf("done\n");
  return 0;
}

int run_worker(const struct spec *prepared, char **program) {
  if (!*program) die_usage("needs a program after --", NULL);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  enter_private_mounts();
  provide_run(prepared);
  provide_workplace();
  bound_namespace();
  struct criu criu = start_criu(program, prepared->preload);
  int user_namespace = mapping_namespace(prepared);
  struct block arguments = read_block(), request = read_block();
  job.spec = *prepared;
  parse_arguments(&job.spec, &arguments);
  int lock = take_lock(job.spec.lock);
  bool restores = job.spec.layer_count > 0;
  if (restores) {
    require_cell(&job.spec);
    open_work_directory(job.spec.env);
  }
  if (send(criu.socket, request.bytes, request.length, MSG_NOSIGNAL) != (ssize_t)request.length)
    die("send", "criu");
  if (restores) { /* meanwhile it gets ready; before it makes a process, it waits for an answer */
    stage(&job.spec, user_namespace);
    list_cgroups(&job.spec);
  }
  struct answer answer = {0};
  bool answered = converse(criu, &answer);
  if (answered && answer.success) return restores ? 0 : say_dumped(lock);
  if (restores) end_orphans();
  printf("failed %s\n", answered ? answer.message : "criu went away");
  return 1;
}
