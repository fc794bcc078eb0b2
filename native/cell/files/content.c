/* Contents of regular files. `read` answers each path with blocks: a length of four bytes, big-endian, and as many
 * bytes. Length 0 ends the file; length 0xffffffff alone means that there is no regular file. `compare` answers with
 * one byte: = the same, ! different, ? no regular file on one of the sides. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"
#include "view.h"

#define BLOCK (1 << 17)

/* O_NONBLOCK, because the entry may have become a pipe since it was looked at. */
int open_regular(const struct found *found, struct stat *info) {
  if (!S_ISREG(found->stat.stx_mode)) return -1;
  int fd = openat(found->in.fd, found->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ELOOP && errno != ENXIO) die("open '%s'", found->name);
    return -1;
  }
  if (fstat(fd, info)) die("fstat '%s'", found->name);
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

static size_t fill(const char *path, int fd, off_t at, char *block) {
  size_t used = 0;
  for (ssize_t n; used < BLOCK && (n = pread(fd, block + used, BLOCK - used, at + (off_t)used)); used += (size_t)n)
    if (n < 0) die("pread '%s'", path);
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
    for (size_t length; (length = fill(path, fd, at, block)); at += (off_t)length) {
      put_length((uint32_t)length);
      fwrite(block, 1, length, stdout);
      if (ferror(stdout)) die("write stdout");
    }
    put_length(0);
    close(fd);
  }
}

/* Where the next data begins, at AT or later. Some file systems do not know, and then it is AT. */
static off_t next_data(int fd, off_t at, off_t size) {
  off_t start = lseek(fd, at, SEEK_DATA);
  if (start >= 0) return start;
  return errno == ENXIO ? size : at;
}

/* Skips holes: a sandbox can make files of terabytes that consist of nothing else. */
static bool same_content(const char *path, int before, int after, off_t size) {
  static char left[BLOCK], right[BLOCK];
  for (off_t at = 0;;) {
    off_t left_at = next_data(before, at, size), right_at = next_data(after, at, size);
    at = left_at < right_at ? left_at : right_at;
    if (at >= size) return true;
    size_t length = fill(path, before, at, left);
    if (length != fill(path, after, at, right) || memcmp(left, right, length)) return false;
    if (!length) return true; /* it has become shorter since its size was read */
    at += (off_t)length;
  }
}

static char compare_path(struct walk *before, struct walk *after, char *path) {
  struct stat earlier, later;
  autoclose int left = open_path(before, path, &earlier);
  autoclose int right = open_path(after, path, &later);
  if (left < 0 || right < 0) return '?';
  bool is_one_file = earlier.st_dev == later.st_dev && earlier.st_ino == later.st_ino;
  if (is_one_file) return '=';
  return earlier.st_size == later.st_size && same_content(path, left, right, later.st_size) ? '=' : '!';
}

void compare_files(char **before, size_t before_count, char **after, size_t after_count) {
  if (!before_count || !after_count) die_because("compare needs layers on both sides of --");
  struct walk *earlier = walk_layers(before, before_count), *later = walk_layers(after, after_count);
  for (char *path; (path = next_path());) putchar(compare_path(earlier, later, path));
}
