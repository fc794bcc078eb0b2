/* The agent: PID 1 of an environment. It serves docs/agent-protocol.md on a Unix socket and reaps orphans. CRIU dumps
 * and restores it with everything else, so it uses only what CRIU can carry: one thread, epoll, pipes, terminals,
 * sockets, signalfd and relative timerfds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call-pipe.h"
#include "child.h"
#include "connection.h"
#include "detach.h"
#include "environment.h"
#include "guest.h"
#include "identity.h"
#include "loop.h"
#include "relay.h"
#include "shared/error.h"
#include "spawn.h"
#include "user.h"

struct options {
  const char *socket;
  enum clients clients;
  const char *relay_to; /* NULL: serve */
  pid_t listener;       /* of that socket; 0: any process */
  const char *identity; /* to write instead of serving; NULL: serve */
  const char *hostname; /* to set with it, or NULL */
  const char *guest;    /* directory of an agent that is a guest, or NULL */
  const char *settle;   /* the same for one that was just started; NULL: serve */
  const char *leave;    /* the same for one to end; NULL: serve */
  const char *detach;   /* directory to make before it detaches from whoever started it, or NULL */
  struct brought brought;
};

static int failed(const struct error *error) {
  fprintf(stderr, "agent: %s (errno %d)\n", error->text, error->code);
  return 1;
}

/* A variable of the image that cannot be used must not keep the environment from starting. */
static void add_variable(char *assignment) {
  struct error error;
  if (environment_add(assignment, &error) < 0) failed(&error);
}

static struct options parse_options(int argc, char **argv) {
  static const struct option known[] = {
      {"socket", required_argument, NULL, 's'},   {"relayed", no_argument, NULL, 'r'},
      {"relay", required_argument, NULL, 't'},    {"listener", required_argument, NULL, 'l'},
      {"identify", required_argument, NULL, 'i'}, {"hostname", required_argument, NULL, 'h'},
      {"guest", required_argument, NULL, 'g'},    {"settle", required_argument, NULL, 'S'},
      {"leave", required_argument, NULL, 'L'},    {"detach", required_argument, NULL, 'd'},
      {"program", required_argument, NULL, 'p'},  {"stale", required_argument, NULL, 'o'},
      {"time", required_argument, NULL, 'T'},     {"user", required_argument, NULL, 'u'},
      {"env", required_argument, NULL, 'e'},      {0},
  };
  struct options options = {.socket = "/run/forkpoint/agent.sock"};
  int choice;
  while ((choice = getopt_long(argc, argv, "", known, NULL)) != -1) {
    switch (choice) {
      case 's': options.socket = optarg; break;
      case 'r': options.clients = CLIENTS_RELAYS; break;
      case 't': options.relay_to = optarg; break;
      case 'l': options.listener = atoi(optarg); break;
      case 'i': options.identity = optarg; break;
      case 'h': options.hostname = optarg; break;
      case 'g': options.guest = optarg; break;
      case 'S': options.settle = optarg; break;
      case 'L': options.leave = optarg; break;
      case 'd': options.detach = optarg; break;
      case 'p': options.brought.program = optarg; break;
      case 'o': options.brought.stale = optarg; break;
      case 'T': options.brought.time = strtoll(optarg, NULL, 10); break;
      case 'u': user_set_default(optarg); break;
      case 'e': add_variable(optarg); break;
      default: exit(2);
    }
  }
  return options;
}

/* Descriptors 0 to 2 must be in use. Otherwise a pipe would get one of these numbers and be mixed up with a child's
 * standard input or output. */
static void hold_standard_fds(void) {
  int fd;
  do fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= 2);
  if (fd > 2) close(fd);
}

static void ignore_signals(void) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  signal(SIGPIPE, SIG_IGN);
  if (getpid() != 1) {
    /* Started by hand, it adopts orphans like PID 1, but signals can end it. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return;
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_IGN);
}

/* Freed rings and queues go back to the kernel at once: all memory of the agent is written into every snapshot. */
static void return_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 65536);
  mallopt(M_TRIM_THRESHOLD, 262144);
}

/* What is done instead of serving: 0, or -1 with an error; 1 if the agent is to serve. */
static int run_call(const struct options *options, struct error *error) {
  if (options->relay_to) return relay_run(options->relay_to, options->listener, error);
  if (options->identity) return identify_run(options->identity, options->hostname, error);
  if (!options->settle && !options->leave) return 1;
  if (!options->brought.program) return error_refuse(error, EINVAL, "--program is missing");
  if (options->settle) return guest_settle(options->settle, &options->brought, error);
  return guest_leave(options->leave, &options->brought, error);
}

static int serve(const struct options *options, struct error *error) {
  if (loop_open(error) < 0 || children_open(error) < 0) return -1;
  if (options->guest && guest_enter(options->guest, error) < 0) return -1;
  if (connections_listen(options->socket, options->clients, error) < 0) return -1;
  detach_done();
  return loop_run(error);
}

int main(int argc, char **argv) {
  struct options options = parse_options(argc, argv);
  struct error error;
  int called = run_call(&options, &error);
  if (called <= 0) return called < 0 ? failed(&error) : 0;
  if (options.detach && detach(options.detach, &error) < 0) return failed(&error);
  call_pipe_init(options.socket);
  hold_standard_fds();
  ignore_signals();
  return_memory();
  umask(022);
  spawn_init();
  serve(&options, &error);
  return failed(&error);
}
