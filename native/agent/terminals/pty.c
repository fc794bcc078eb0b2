#define _GNU_SOURCE
#include "pty.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "util.h"

int pty_resize(int master, int cols, int rows)
{
	struct winsize size = { .ws_col = cols, .ws_row = rows };

	return ioctl(master, TIOCSWINSZ, &size);
}

int pty_open(int cols, int rows, char path[PTY_PATH])
{
	autoclose int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int locked = 0;
	unsigned int number;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0 || ioctl(master, TIOCGPTN, &number) < 0 ||
	    pty_resize(master, cols, rows) < 0)
		return -1;
	snprintf(path, PTY_PATH, "/dev/pts/%u", number);
	return take_fd(&master);
}
