/* Locks on files, seen by the other process that wants them. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int lock_file(void) { return (int)MUST(open("lock", O_RDWR | O_CREAT, 0600)); }

static int lock(int fd, int command, short type, off_t from, off_t length) {
  struct flock wanted = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = length};
  return fcntl(fd, command, &wanted);
}

/* Tries it over and over, as another process, until the snapshots are over. */
static int keeps_out(bool (*gets_in)(int fd)) {
  int fd = lock_file();
  while (!is_over()) {
    if (gets_in(fd)) return 1;
    rest(0.005);
  }
  return gets_in(fd);
}

static bool gets_flock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0; }
static bool gets_posix(int fd) { return lock(fd, F_SETLK, F_WRLCK, 50, 1) == 0; }
static bool gets_ofd(int fd) { return lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0) == 0; }
static int flock_contender(void) { return keeps_out(gets_flock); }
static int posix_contender(void) { return keeps_out(gets_posix); }
static int ofd_contender(void) { return keeps_out(gets_ofd); }

static void against(int (*contender)(void)) {
  pid_t other = start(contender);
  hold();
  same("what the other process got", 0, end_of(other));
}

static void flock_held(void) {
  int fd = lock_file();
  MUST(flock(fd, LOCK_EX));
  against(flock_contender);
  EXPECT(flock(fd, LOCK_UN) == 0);
}

static void posix_held(void) {
  int fd = lock_file();
  MUST(lock(fd, F_SETLK, F_WRLCK, 10, 90));
  against(posix_contender);
  EXPECT(lock(fd, F_SETLK, F_UNLCK, 10, 90) == 0);
}

static void ofd_held(void) {
  int fd = lock_file();
  MUST(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0));
  against(ofd_contender);
}

/* Who holds a lock, as F_GETLK tells the other process. */
static int asks_for_holder(void) {
  struct flock wanted = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  until_over();
  int fd = lock_file();
  if (fcntl(fd, F_GETLK, &wanted) < 0) return 1;
  return wanted.l_type == F_RDLCK && wanted.l_pid == getppid() && wanted.l_start == 7 && wanted.l_len == 5 ? 0 : 2;
}

static void posix_holder(void) {
  int fd = lock_file();
  MUST(lock(fd, F_SETLK, F_RDLCK, 7, 5));
  against(asks_for_holder);
}

/* One that waits for the lock gets it when it is given up, not before, and is not interrupted. */
static int waits_for_flock(void) { return flock(lock_file(), LOCK_EX) == 0 ? 0 : errno; }
static int waits_for_posix(void) { return lock(lock_file(), F_SETLKW, F_WRLCK, 0, 0) == 0 ? 0 : errno; }
static int waits_for_ofd(void) { return lock(lock_file(), F_OFD_SETLKW, F_WRLCK, 0, 0) == 0 ? 0 : errno; }

static void awaited(int (*waiter)(void), void (*give_up)(int fd), int fd) {
  pid_t other = start(waiter);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/wchan", other);
  rest(0.1);
  hold();
  EXPECT(kill(other, 0) == 0);
  give_up(fd);
  same("how the wait ended", 0, end_of(other));
}

static void give_up_flock(int fd) { MUST(flock(fd, LOCK_UN)); }
static void give_up_posix(int fd) { MUST(lock(fd, F_SETLK, F_UNLCK, 0, 0)); }
static void give_up_ofd(int fd) { MUST(lock(fd, F_OFD_SETLK, F_UNLCK, 0, 0)); }

static void flock_awaited(void) {
  int fd = lock_file();
  MUST(flock(fd, LOCK_EX));
  awaited(waits_for_flock, give_up_flock, fd);
}

static void posix_awaited(void) {
  int fd = lock_file();
  MUST(lock(fd, F_SETLK, F_WRLCK, 0, 0));
  awaited(waits_for_posix, give_up_posix, fd);
}

static void ofd_awaited(void) {
  int fd = lock_file();
  MUST(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0));
  awaited(waits_for_ofd, give_up_ofd, fd);
}

static volatile int broken;
static void on_break(int signal) { broken = signal; }

static int opens_for_writing(void) { return open("lock", O_WRONLY | O_NONBLOCK) < 0 ? 0 : 1; }

static void lease(void) {
  int fd = lock_file();
  signal(SIGIO, on_break);
  MUST(fcntl(fd, F_SETLEASE, F_WRLCK));
  hold();
  same("the lease was broken by", 0, broken);
  same("lease", F_WRLCK, fcntl(fd, F_GETLEASE));
  pid_t other = start(opens_for_writing);
  same("the other process opened it", 0, end_of(other));
  same("the lease is broken by", SIGIO, broken);
}

/* The lines of /proc/locks for this file: kinds, holder, inode. */
static void listed_locks(void) {
  int fd = lock_file();
  MUST(flock(fd, LOCK_SH));
  MUST(lock(fd, F_SETLK, F_WRLCK, 1, 2));
  char key[64];
  snprintf(key, sizeof key, "/proc/self/fdinfo/%d", fd);
  char *was = slurp(key);
  EXPECT(strstr(was, "lock:") != NULL);
  hold();
  same_lines("its locks", was, slurp(key));
}

const struct program lock_programs[] = {
    {"flock-held", flock_held},        {"posix-lock-held", posix_held},
    {"ofd-lock-held", ofd_held},       {"posix-lock-holder", posix_holder},
    {"flock-awaited", flock_awaited},  {"posix-lock-awaited", posix_awaited},
    {"ofd-lock-awaited", ofd_awaited}, {"lease", lease},
    {"listed-locks", listed_locks},    {0},
};
