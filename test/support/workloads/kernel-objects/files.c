/* Open files: positions, flags, and lost names. */
#define _GNU_SOURCE
#include "object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool reads(int fd, off_t at, const char *text) {
  char buffer[64] = "";
  size_t length = strlen(text);
  return pread(fd, buffer, length, at) == (ssize_t)length && !memcmp(buffer, text, length);
}

static int file_with(const char *name, const char *text) {
  int fd = MUST(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));
  MUST(write(fd, text, strlen(text)));
  return fd;
}

static int positioned, duplicate;

static void make_positioned(void) {
  positioned = file_with("positioned", "0123456789");
  duplicate = MUST(dup(positioned));
  MUST(lseek(positioned, 4, SEEK_SET));
}

/* Both descriptors are one open file: they move together. */
static bool positioned_holds(void) {
  char byte;
  bool four = lseek(duplicate, 0, SEEK_CUR) == 4;
  bool together = read(duplicate, &byte, 1) == 1 && byte == '4' &&
                  lseek(positioned, 0, SEEK_CUR) == 5;
  return lseek(positioned, 4, SEEK_SET) == 4 && four && together;
}

static int unlinked, empty_unlinked;

static void make_unlinked(void) {
  unlinked = file_with("unlinked", "no name any more");
  MUST(lseek(unlinked, 3, SEEK_SET));
  MUST(pwrite(unlinked, "far", 3, 300000));
  MUST(unlink("unlinked"));
  empty_unlinked = MUST(open("empty", O_RDONLY | O_CREAT, 0400));
  MUST(unlink("empty"));
}

static bool unlinked_holds(void) {
  struct stat facts;
  return fstat(unlinked, &facts) == 0 && facts.st_nlink == 0 && facts.st_size == 300003 &&
         reads(unlinked, 0, "no name any more") && reads(unlinked, 300000, "far") &&
         lseek(unlinked, 0, SEEK_CUR) == 3 && fstat(empty_unlinked, &facts) == 0 &&
         facts.st_nlink == 0 && facts.st_size == 0;
}

/* Opened by a name that no longer exists; another name of the same file does. */
static int relinked;

static void make_relinked(void) {
  relinked = file_with("one-name", "two names");
  MUST(link("one-name", "other-name"));
  MUST(unlink("one-name"));
}

static bool relinked_holds(void) {
  struct stat open_file, by_name;
  return reads(relinked, 0, "two names") && fstat(relinked, &open_file) == 0 &&
         stat("other-name", &by_name) == 0 && access("one-name", F_OK) < 0 &&
         open_file.st_ino == by_name.st_ino;
}

/* Opened, then replaced by another file. */
static int replaced;

static void make_replaced(void) {
  replaced = file_with("replaced", "the old one");
  MUST(close(file_with("new", "the new one")));
  MUST(rename("new", "replaced"));
}

static bool replaced_holds(void) {
  int fd = open("replaced", O_RDONLY);
  bool newer = reads(fd, 0, "the new one");
  close(fd);
  return newer && reads(replaced, 0, "the old one");
}

static int temporary;

static void make_temporary(void) {
  temporary = MUST(open(".", O_TMPFILE | O_RDWR, 0600));
  MUST(write(temporary, "never had a name", 16));
}

static bool temporary_holds(void) { return reads(temporary, 0, "never had a name"); }

static int appending, path_only, directory;
static DIR *stream;

static void make_flags(void) {
  appending = MUST(open("appending", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
  path_only = MUST(open("appending", O_PATH));
  MUST(mkdir("directory", 0700));
  directory = MUST(open("directory", O_RDONLY | O_DIRECTORY));
  stream = opendir(".");
}

static bool flags_hold(void) {
  int wanted = O_WRONLY | O_APPEND | O_NONBLOCK;
  int flags = fcntl(appending, F_GETFL);
  int fd = openat(directory, "entry", O_CREAT | O_WRONLY, 0600);
  bool below = fd >= 0 && access("directory/entry", F_OK) == 0;
  close(fd);
  rewinddir(stream);
  return (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK)) == wanted &&
         fcntl(appending, F_GETFD) == FD_CLOEXEC && (fcntl(path_only, F_GETFL) & O_PATH) &&
         below && readdir(stream);
}

static int null_device, random_device, zero_device;

static void make_devices(void) {
  null_device = MUST(open("/dev/null", O_RDWR));
  zero_device = MUST(open("/dev/zero", O_RDONLY));
  random_device = MUST(open("/dev/urandom", O_RDONLY));
}

static bool devices_hold(void) {
  char byte = 1;
  return write(null_device, "x", 1) == 1 && read(zero_device, &byte, 1) == 1 && byte == 0 &&
         read(random_device, &byte, 1) == 1;
}

const struct object file_objects[] = {
    {"the position of a duplicated file", make_positioned, positioned_holds},
    {"an unlinked open file", make_unlinked, unlinked_holds},
    {"a file under its other name", make_relinked, relinked_holds},
    {"a file that another one replaced", make_replaced, replaced_holds},
    {"a file that never had a name", make_temporary, temporary_holds},
    {"flags of open files and directories", make_flags, flags_hold},
    {"open devices", make_devices, devices_hold},
    {0},
};
