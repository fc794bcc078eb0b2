#define _GNU_SOURCE
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util.h"

enum step { STEP_SETUP, STEP_TERMINAL, STEP_USER, STEP_DIRECTORY, STEP_EXECUTE };

struct failure {
	enum step step;
	int error;
};

static struct rlimit descriptors;

void spawn_init(void)
{
	if (getrlimit(RLIMIT_NOFILE, &descriptors) < 0)
		return;
	/* The agent holds several per command; programs keep the limit they know. */
	struct rlimit raised = { descriptors.rlim_max, descriptors.rlim_max };
	setrlimit(RLIMIT_NOFILE, &raised);
}

static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Under memory pressure the kernel should end a program, not PID 1. */
static void raise_oom_score(void)
{
	autoclose int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "200", 3) < 0)
		return; /* already higher */
}

static int connect_fds(const struct spawn *spawn)
{
	int terminal = -1, nothing = -1;

	if (spawn->terminal) {
		terminal = open(spawn->terminal, O_RDWR | O_CLOEXEC);
		if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
			return -1;
		/* The user may open it by name, as after a login. */
		if (fchown(terminal, spawn->user->uid, -1) < 0 && errno != EPERM)
			return -1;
	} else {
		nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	}
	for (int i = 0; i < 3; i++) {
		int from = spawn->fds[i] >= 0 ? spawn->fds[i] : terminal >= 0 ? terminal : nothing;
		if (from < 0 || dup2(from, i) < 0)
			return -1;
	}
	return 0;
}

static enum step run(const struct spawn *spawn)
{
	setsid();
	reset_signals();
	raise_oom_score();
	if (connect_fds(spawn) < 0)
		return STEP_TERMINAL;
	/* Nothing of the agent's may outlive it in a program: CRIU would find it there. */
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	setrlimit(RLIMIT_NOFILE, &descriptors);
	if (user_become(spawn->user) < 0)
		return STEP_USER;
	if (chdir(spawn->directory) < 0 &&
	    (spawn->directory_asked || (chdir(spawn->user->home) < 0 && chdir("/") < 0)))
		return STEP_DIRECTORY;
	environ = (char **)spawn->environment;
	if (!spawn->argv0) {
		execvp(spawn->argv[0], spawn->argv);
	} else {
		const char *file = spawn->argv[0];
		((char **)spawn->argv)[0] = (char *)spawn->argv0;
		execvp(file, spawn->argv);
	}
	return STEP_EXECUTE;
}

static void describe(const struct spawn *spawn, const struct failure *failure, char *message, size_t size)
{
	const char *why = strerror(failure->error);

	switch (failure->step) {
	case STEP_SETUP:
		snprintf(message, size, "cannot start a process: %s", why);
		break;
	case STEP_TERMINAL:
		snprintf(message, size, "cannot open '%s': %s", spawn->terminal ? spawn->terminal : "/dev/null", why);
		break;
	case STEP_USER:
		snprintf(message, size, "cannot become user '%s' (uid %u): %s", spawn->user->name, spawn->user->uid, why);
		break;
	case STEP_DIRECTORY:
		snprintf(message, size, "cannot enter directory '%s': %s", spawn->directory, why);
		break;
	case STEP_EXECUTE:
		snprintf(message, size, "cannot execute '%s': %s", spawn->argv[0], why);
		break;
	}
}

int spawn(const struct spawn *spawn, pid_t *pid, char *message, size_t message_size)
{
	struct failure failure = { STEP_SETUP, 0 };
	autoclose int reader = -1;
	autoclose int writer = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == 0) {
		reader = ends[0];
		writer = ends[1];
		*pid = fork();
		if (*pid == 0) {
			failure.step = run(spawn);
			failure.error = errno;
			(void)!write(writer, &failure, sizeof failure);
			_exit(127);
		}
		if (*pid > 0) {
			close_fd(&writer);
			/* The pipe closes when the program is executed. */
			while (read(reader, &failure, sizeof failure) < 0 && errno == EINTR)
				;
			if (!failure.error)
				return 0;
		}
	}
	if (!failure.error)
		failure.error = errno;
	describe(spawn, &failure, message, message_size);
	errno = failure.error;
	return -1;
}
