/* What a process holds of files: offsets, flags, contents of deleted ones, mappings, directories. */
#define _GNU_SOURCE
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int made(const char *path, const char *text) {
  int fd = MUST(open(path, O_RDWR | O_CREAT, 0600));
  MUST(write(fd, text, strlen(text)));
  return fd;
}

static void holds_text(int fd, const char *text) {
  char read_back[100] = "";
  same("length", (long)strlen(text), pread(fd, read_back, sizeof read_back - 1, 0));
  same_text("contents", text, read_back);
}

static void offset_and_flags(void) {
  int fd = MUST(open("file", O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600));
  MUST(write(fd, "0123456789", 10));
  MUST(lseek(fd, 3, SEEK_SET));
  int copy = MUST(dup(fd));
  long flags = fcntl(fd, F_GETFL);
  hold();
  same("offset", 3, lseek(fd, 0, SEEK_CUR));
  same("flags", flags, fcntl(fd, F_GETFL));
  same("close on exec", FD_CLOEXEC, fcntl(fd, F_GETFD));
  MUST(lseek(copy, 7, SEEK_SET));
  same("the offset it shares with its copy", 7, lseek(fd, 0, SEEK_CUR));
}

static void deleted_contents(void) {
  int fd = made("deleted", "still here");
  MUST(unlink("deleted"));
  int copied_up = MUST(open("/usr/share/base-files/profile", O_RDWR));
  char begin[32] = "", path[PATH_MAX] = "", link[64];
  MUST(pread(copied_up, begin, 20, 0));
  MUST(unlink("/usr/share/base-files/profile"));
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  MUST(readlink(link, path, sizeof path - 1));
  hold();
  char again[32] = "", path_again[PATH_MAX] = "";
  holds_text(fd, "still here");
  MUST(pread(copied_up, again, 20, 0));
  same_text("the copied-up file", begin, again);
  MUST(readlink(link, path_again, sizeof path_again - 1));
  same_text("its name in /proc", path, path_again);
  EXPECT(access("deleted", F_OK) < 0 && errno == ENOENT);
}

static void unnamed_file(void) {
  int fd = MUST(open(".", O_TMPFILE | O_RDWR, 0600));
  MUST(write(fd, "unnamed", 7));
  struct stat was, is;
  MUST(fstat(fd, &was));
  hold();
  MUST(fstat(fd, &is));
  same("inode", (long)was.st_ino, (long)is.st_ino);
  same("links", 0, (long)is.st_nlink);
  holds_text(fd, "unnamed");
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  EXPECT(linkat(AT_FDCWD, from, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0);
}

static void deleted_directory(void) {
  MUST(mkdir("gone", 0700));
  MUST(chdir("gone"));
  MUST(rmdir("../gone"));
  struct stat was, is;
  char path[PATH_MAX];
  MUST(stat(".", &was));
  hold();
  MUST(stat(".", &is));
  same("inode of the working directory", (long)was.st_ino, (long)is.st_ino);
  same("device of the working directory", (long)was.st_dev, (long)is.st_dev);
  EXPECT(getcwd(path, sizeof path) == NULL && errno == ENOENT);
  EXPECT(open("new", O_CREAT | O_WRONLY, 0600) < 0 && errno == ENOENT);
}

static void moved_directory(void) {
  MUST(mkdir("before", 0700));
  int directory = MUST(open("before", O_RDONLY | O_DIRECTORY));
  write_file("before/file", "text");
  MUST(rename("before", "after"));
  hold();
  EXPECT(faccessat(directory, "file", R_OK, 0) == 0);
  EXPECT(openat(directory, "made", O_CREAT | O_WRONLY, 0600) >= 0);
  EXPECT(access("after/made", F_OK) == 0);
}

static void changed_root(void) {
  MUST(mkdir("root", 0700));
  write_file("root/inside", "inside");
  MUST(chroot("root"));
  MUST(chdir("/"));
  struct stat was, is;
  MUST(stat("/", &was));
  hold();
  MUST(stat("/", &is));
  same("inode of the root", (long)was.st_ino, (long)is.st_ino);
  same("device of the root", (long)was.st_dev, (long)is.st_dev);
  EXPECT(access("/inside", F_OK) == 0);
}

/* Dirty pages of a shared mapping, which only the page cache has. */
static void shared_mapping(void) {
  size_t size = 1 << 20;
  int fd = MUST(open("mapped", O_RDWR | O_CREAT, 0600));
  MUST(ftruncate(fd, (off_t)size));
  char *memory = MUST(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  memset(memory, 'a', size);
  ready();
  for (unsigned char turn = 0; !is_over(); turn++) {
    memory[turn * 4096] = (char)turn;
    rest(0.01);
  }
  memory[5] = 'z';
  char byte = 0;
  int again = MUST(open("mapped", O_RDONLY));
  for (int i = 0; i < 256; i++) {
    MUST(pread(again, &byte, 1, i * 4096));
    EXPECT(byte == memory[i * 4096]);
  }
  MUST(pread(again, &byte, 1, 5));
  same("what was written through the mapping", 'z', byte);
  MUST(pwrite(again = MUST(open("mapped", O_RDWR)), "y", 1, 6));
  same("what was written to the file", 'y', memory[6]);
}

static void deleted_mapping(void) {
  int fd = made("mapped", "text of a deleted file");
  char *shared = MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  char *private = MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
  private[0] = 'T';
  MUST(unlink("mapped"));
  hold();
  same_text("the shared mapping", "text of a deleted file", shared);
  same_text("the private mapping", "Text of a deleted file", private);
  shared[1] = 'E';
  holds_text(fd, "tExt of a deleted file");
}

static void memory_file(void) {
  int fd = MUST(memfd_create("held", MFD_ALLOW_SEALING));
  MUST(write(fd, "in memory", 9));
  MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  struct stat was, is;
  MUST(fstat(fd, &was));
  char *memory = MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  hold();
  MUST(fstat(fd, &is));
  same("inode", (long)was.st_ino, (long)is.st_ino);
  same("device", (long)was.st_dev, (long)is.st_dev);
  same("change time", was.st_ctim.tv_nsec, is.st_ctim.tv_nsec);
  same("seals", F_SEAL_SHRINK | F_SEAL_GROW, fcntl(fd, F_GET_SEALS));
  memory[0] = 'I';
  holds_text(fd, "In memory");
}

static void holes(void) {
  int fd = MUST(open("sparse", O_RDWR | O_CREAT, 0600));
  MUST(ftruncate(fd, 64 << 20));
  MUST(pwrite(fd, "x", 1, 32 << 20));
  MUST(fsync(fd));
  off_t data = lseek(fd, 0, SEEK_DATA), hole = lseek(fd, data, SEEK_HOLE);
  struct stat was, is;
  MUST(fstat(fd, &was));
  hold();
  same("where the data begin", data, lseek(fd, 0, SEEK_DATA));
  same("where they end", hole, lseek(fd, data, SEEK_HOLE));
  MUST(fstat(fd, &is));
  same("blocks", was.st_blocks, is.st_blocks);
}

static void extended_attributes(void) {
  int fd = made("file", "text");
  MUST(fsetxattr(fd, "user.note", "kept", 4, 0));
  char list[200] = "", list_again[200] = "", value[8] = "";
  ssize_t length = MUST(flistxattr(fd, list, sizeof list));
  hold();
  same("the list of attributes", length, flistxattr(fd, list_again, sizeof list_again));
  EXPECT(memcmp(list, list_again, sizeof list) == 0);
  same("the value", 4, fgetxattr(fd, "user.note", value, sizeof value));
  same_text("the value", "kept", value);
}

static void owner_of_signals(void) {
  int ends[2];
  MUST(pipe2(ends, O_NONBLOCK));
  MUST(fcntl(ends[0], F_SETOWN, getpid()));
  MUST(fcntl(ends[0], F_SETSIG, SIGRTMIN + 5));
  MUST(fcntl(ends[1], F_SETPIPE_SZ, 1 << 18));
  long flags = fcntl(ends[0], F_GETFL);
  hold();
  same("owner", getpid(), fcntl(ends[0], F_GETOWN));
  same("signal", SIGRTMIN + 5, fcntl(ends[0], F_GETSIG));
  same("size of the pipe", 1 << 18, fcntl(ends[1], F_GETPIPE_SZ));
  same("flags", flags, fcntl(ends[0], F_GETFL));
}

/* Every descriptor, what it is and what it is called. */
static void list_descriptors(char *text, size_t room) {
  DIR *directory = opendir("/proc/self/fd");
  char names[200][16];
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory)) && count < 200;)
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory)) strcpy(names[count++], entry->d_name);
  closedir(directory);
  *text = 0;
  for (int i = 0; i < count; i++) {
    char path[64], target[300] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", names[i]);
    MUST(readlink(path, target, sizeof target - 1));
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s %s\n", names[i], target);
  }
}

static void descriptor_numbers(void) {
  static char was[8000], is[8000];
  for (int i = 0; i < 20; i++) MUST(dup2(MUST(open("file", O_RDWR | O_CREAT, 0600)), 50 + i * 7));
  list_descriptors(was, sizeof was);
  hold();
  list_descriptors(is, sizeof is);
  same_text("the descriptors", was, is);
}

const struct program held_file_programs[] = {
    {"offset-and-flags", offset_and_flags},
    {"deleted-contents", deleted_contents},
    {"unnamed-file", unnamed_file},
    {"deleted-directory", deleted_directory},
    {"moved-directory", moved_directory},
    {"changed-root", changed_root},
    {"shared-mapping", shared_mapping},
    {"deleted-mapping", deleted_mapping},
    {"memory-file", memory_file},
    {"holes", holes},
    {"extended-attributes", extended_attributes},
    {"owner-of-signals", owner_of_signals},
    {"descriptor-numbers", descriptor_numbers},
    {0},
};
