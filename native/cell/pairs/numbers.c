/* The device numbers of file systems without a device. The kernel gives the lowest one that is free. The first 255 of
 * them look like any small number in the memory of a program, and the next ones like a flag: 256 is 0x100000, as
 * stat(2) returns it. From FIRST_STRONG on, a word with it, beside one with an inode number, is hardly anything else.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pairs.h"
#include "report.h"

bool is_strong(dev_t device) { return minor(device) >= FIRST_STRONG; }

/* An empty file system that nobody sees; -1 if the kernel refuses. */
static int take_number(void) {
  int fs = (int)syscall(SYS_fsopen, "ramfs", FSOPEN_CLOEXEC);
  if (fs < 0) return -1;
  if (!syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) return fs;
  close(fs);
  return -1;
}

static dev_t number_of(int fs) {
  struct stat info;
  int root = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
  if (root < 0) die("fsmount ramfs");
  if (fstat(root, &info)) die("fstat of a ramfs");
  return info.st_dev; /* ROOT stays open: closing it waits for all CPUs */
}

/* All numbers below the first one are taken, so there are at most as many as this left. Where the kernel refuses, the
 * next mount gets a weak number, and nothing is searched for it: see is_strong. */
void take_weak_numbers(void) {
  int first = take_number();
  if (first < 0) return;
  dev_t number = number_of(first);
  close(first);
  for (unsigned next = minor(number); next < FIRST_STRONG - 1; next++) take_number();
}

/* Measured: about 30 µs for each number. */
void keep_numbers_taken(void) {
  pid_t keeper = getpid();
  if (fork()) return; /* also if it failed: whoever mounts takes them */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(0, UINT_MAX, 0); /* others wait for the end of what this process has open */
  if (getppid() != keeper) _exit(0);
  take_weak_numbers();
  for (;;) pause();
}
