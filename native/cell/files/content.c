/* Contents of regular files. `read` answers each path with blocks: a length in four
 * bytes, big-endian, and as many bytes; length 0 ends the file, and the length
 * 0xffffffff alone says that there is no regular file. `compare` answers with one
 * byte: = the same, ! different, ? no regular file on one of the sides. */
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (1 << 17)

/* O_NONBLOCK: the entry may have become a pipe after it was looked at. */
int open_regular(const struct found *found, struct stat *info) {
  if (!S_ISREG(found->stat.stx_mode)) return -1;
  int fd = openat(found->in.fd, found->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ELOOP && errno != ENXIO) die("open", found->name);
    return -1;
  }
  if (fstat(fd, info)) die("fstat", found->name);
  if (S_ISREG(info->st_mode)) return fd;
  close(fd);
  return -1;
}

static int open_path(struct walk *walk, char *path, struct stat *info) {
  struct found found;
  return resolve(walk, path, &found) ? open_regular(&found, info) : -1;
}

static void put_length(uint32_t length) {
  for (int shift = 24; shift >= 0; shift -= 8) putchar((int)(length >> shift & 0xff));
}

static size_t fill(int fd, off_t at, char *block) {
  size_t used = 0;
  for (ssize_t n; used < BLOCK && (n = pread(fd, block + used, BLOCK - used, at + (off_t)used)); used += (size_t)n)
    if (n < 0) die("read", "file");
  return used;
}

void read_files(char **layers, size_t count) {
  static char block[BLOCK];
  struct walk *walk = walk_layers(layers, count);
  for (char *path; (path = next_path());) {
    struct stat info;
    int fd = open_path(walk, path, &info);
    if (fd < 0) {
      put_length(UINT32_MAX);
      continue;
    }
    off_t at = 0;
    for (size_t length; (length = fill(fd, at, block)); at += (off_t)length) {
      put_length((uint32_t)length);
      fwrite(block, 1, length, stdout);
      if (ferror(stdout)) die("write", "stdout");
    }
    put_length(0);
    close(fd);
  }
}

/* Where the next data begin, at the earliest here; a file system may not know. */
static off_t next_data(int fd, off_t at, off_t size) {
  off_t start = lseek(fd, at, SEEK_DATA);
  if (start >= 0) return start;
  return errno == ENXIO ? size : at;
}

/* A sandbox may make files of terabytes that are nothing but holes. */
static bool same_content(int before, int after, off_t size) {
  static char left[BLOCK], right[BLOCK];
  for (off_t at = 0;;) {
    off_t old = next_data(before, at, size), new = next_data(after, at, size);
    at = old < new ? old : new;
    if (at >= size) return true;
    size_t length = fill(before, at, left);
    if (length != fill(after, at, right) || memcmp(left, right, length)) return false;
    if (!length) return true; /* shorter than it was when its size was read */
    at += (off_t)length;
  }
}

static char compare_path(struct walk *before, struct walk *after, char *path) {
  struct stat old, new;
  int left = open_path(before, path, &old);
  int right = open_path(after, path, &new);
  char answer = '?';
  if (left >= 0 && right >= 0) {
    bool one = old.st_dev == new.st_dev && old.st_ino == new.st_ino;
    answer = one || (old.st_size == new.st_size && same_content(left, right, new.st_size)) ? '=' : '!';
  }
  if (left >= 0) close(left);
  if (right >= 0) close(right);
  return answer;
}

void compare_files(char **before, size_t before_count, char **after, size_t after_count) {
  if (!before_count || !after_count) die_usage("compare needs LAYER… -- LAYER…", NULL);
  struct walk *old = walk_layers(before, before_count), *new = walk_layers(after, after_count);
  for (char *path; (path = next_path());) putchar(compare_path(old, new, path));
}
