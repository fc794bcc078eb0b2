/* The CRIU process, which is loaded before its job comes, and in a jail (see jail.c). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"
#include "report.h"
#include "walls.h"
#include "worker.h"

#define MOST_WORDS 64

__attribute__((noreturn)) static void become_criu(const struct spec *spec, char **program, int socket, int jailed) {
  /* Jobs and answers go through the worker's stdin and stdout, so CRIU must not have these. */
  int null = open("/dev/null", O_RDWR);
  if (null < 0) die("open '/dev/null'");
  if (dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) die("dup2 to stdin and stdout");
  enter_jail(spec);
  if (!write_all(jailed, "", 1)) die("write to the worker");
  bound_namespace();
  if (spec->preload && setenv("LD_PRELOAD", spec->preload, 1)) die("setenv LD_PRELOAD '%s'", spec->preload);
  /* Otherwise each process of the job looks up its symbols during the job. */
  if (setenv("LD_BIND_NOW", "1", 1)) die("setenv LD_BIND_NOW");
  char number[16], *argv[MOST_WORDS + 3];
  snprintf(number, sizeof number, "%d", socket);
  size_t count = 0;
  for (; program[count]; count++) {
    if (count == MOST_WORDS) die_because("'%s' has more than %d arguments", program[0], MOST_WORDS);
    argv[count] = program[count];
  }
  argv[count++] = "swrk";
  argv[count++] = number;
  argv[count] = NULL;
  execv(argv[0], argv);
  die("execv '%s'", argv[0]);
}

struct criu start_criu(const struct spec *spec, char **program) {
  int ends[2], jailed[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) die("socketpair for CRIU");
  if (pipe2(jailed, O_CLOEXEC)) die("pipe2 for CRIU");
  pid_t pid = fork();
  if (pid < 0) die("fork for '%s'", program[0]);
  if (pid == 0) {
    close(ends[0]);
    become_criu(spec, program, ends[1], jailed[1]);
  }
  close(ends[1]);
  close(jailed[1]);
  struct criu criu = {
      .pid = pid, .socket = ends[0], .process = (int)syscall(SYS_pidfd_open, pid, 0), .jailed = jailed[0]};
  if (criu.process < 0) die("pidfd_open %d", pid);
  return criu;
}

struct jail open_jail(const struct criu *criu) {
  char byte;
  if (!read_all(criu->jailed, &byte, 1)) _exit(1); /* CRIU's process has said what failed */
  close(criu->jailed);
  return (struct jail){.inside = open_mounts(criu->pid), .outside = open_mounts(getpid())};
}

void send_request(const struct criu *criu, const struct block *request) {
  /* A packet is sent as a whole. */
  if (send(criu->socket, request->bytes, request->length, MSG_NOSIGNAL) < 0) die("send a request to CRIU");
}
