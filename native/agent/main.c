/* The agent: PID 1 of an environment. It serves docs/agent-protocol.md on a
 * Unix socket and reaps what dies. CRIU dumps and restores it with the rest, so
 * it keeps to what CRIU can carry: one thread, epoll, pipes, terminals,
 * sockets, signalfd and relative timerfds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "connection.h"
#include "loop.h"
#include "spawn.h"

struct options {
	const char *socket;
};

static _Noreturn void die(const char *what, const char *argument)
{
	fprintf(stderr, "agent: %s %s: %s\n", what, argument, strerror(errno));
	exit(1);
}

static struct options parse_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "socket", required_argument, NULL, 's' },
		{ 0 },
	};
	struct options options = { "/run/forkpoint/agent.sock" };
	int choice;

	while ((choice = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (choice == 's')
			options.socket = optarg;
		else
			exit(2);
	}
	return options;
}

/* Descriptors 0 to 2 must be taken, else a pipe would get their numbers and a
 * child's stdio would be mixed up. */
static void hold_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

static void ignore_signals(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

	signal(SIGPIPE, SIG_IGN);
	if (getpid() != 1) {
		/* Started by hand, it adopts orphans as PID 1 does and can be ended. */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		return;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		signal(numbers[i], SIG_IGN);
}

/* Rings and queues go back to the kernel when they are freed: what the agent
 * holds is written into every snapshot. */
static void return_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 65536);
	mallopt(M_TRIM_THRESHOLD, 262144);
}

int main(int argc, char **argv)
{
	struct options options = parse_options(argc, argv);

	hold_standard_fds();
	ignore_signals();
	return_memory();
	umask(022);
	spawn_init();
	if (loop_open() < 0)
		die("epoll_create1 or timerfd_create", "");
	if (children_open() < 0)
		die("signalfd", "SIGCHLD");
	if (connections_listen(options.socket) < 0)
		die("listen", options.socket);
	loop_run();
	die("epoll_wait", "");
}
