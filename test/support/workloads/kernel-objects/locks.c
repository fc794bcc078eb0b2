/* File locks, as another process sees them. */
#define _GNU_SOURCE
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static int make_file(const char *name) {
  int fd = MUST(open(name, O_RDWR | O_CREAT, 0600));
  MUST(ftruncate(fd, 8192));
  return fd;
}

static void make_flocks(void) {
  MUST(flock(make_file("flock-exclusive"), LOCK_EX));
  MUST(flock(make_file("flock-shared"), LOCK_SH));
}

/* Whether somebody else who opens the file gets the lock. */
static bool gets(const char *name, int operation) {
  int fd = open(name, O_RDWR);
  bool got = flock(fd, operation | LOCK_NB) == 0;
  close(fd);
  return got;
}

static bool flocks_hold(void) {
  return !gets("flock-exclusive", LOCK_SH) && gets("flock-shared", LOCK_SH) &&
         !gets("flock-shared", LOCK_EX);
}

static struct flock part(short type, off_t start, off_t length) {
  return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

static void lock(int fd, int command, struct flock range) { MUST(fcntl(fd, command, &range)); }

static void make_posix_locks(void) {
  int fd = make_file("posix-locks");
  lock(fd, F_SETLK, part(F_WRLCK, 100, 50));
  lock(fd, F_SETLK, part(F_RDLCK, 1000, 0));
}

/* The kind of lock that prevents writing there. */
static short in_the_way(const char *name, off_t start, off_t length) {
  struct flock range = part(F_WRLCK, start, length);
  int fd = open(name, O_RDWR);
  if (fd < 0 || fcntl(fd, F_GETLK, &range)) return -1;
  close(fd);
  return range.l_type;
}

static bool sees_posix_locks(void) {
  const char *name = "posix-locks";
  return in_the_way(name, 0, 100) == F_UNLCK && in_the_way(name, 149, 1) == F_WRLCK &&
         in_the_way(name, 150, 850) == F_UNLCK && in_the_way(name, 4000, 1) == F_RDLCK;
}

static bool posix_locks_hold(void) { return in_child(sees_posix_locks); }

static void make_mapped_lock(void) {
  int fd = make_file("mapped-lock");
  MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  lock(fd, F_SETLK, part(F_WRLCK, 120, 8));
}

static bool sees_mapped_lock(void) { return in_the_way("mapped-lock", 124, 1) == F_WRLCK; }

static bool mapped_lock_holds(void) { return in_child(sees_mapped_lock); }

static void make_ofd_lock(void) { lock(make_file("ofd-lock"), F_OFD_SETLK, part(F_WRLCK, 10, 20)); }

static bool ofd_lock_holds(void) {
  return in_the_way("ofd-lock", 15, 1) == F_WRLCK && in_the_way("ofd-lock", 40, 1) == F_UNLCK;
}

const struct object lock_objects[] = {
    {"flock", make_flocks, flocks_hold},
    {"fcntl locks of ranges", make_posix_locks, posix_locks_hold},
    {"an fcntl lock of a mapped file", make_mapped_lock, mapped_lock_holds},
    {"a lock of an open file", make_ofd_lock, ofd_lock_holds},
    {0},
};
