/* Descriptors that CRIU looks at: first it asks what one is, then it reads /proc/PID/fdinfo/N. What that says is
 * changed where CRIU would refuse the truth. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "objects.h"
#include "preload/calls.h"
#include "preload/raw.h"

#define FLAGS "\nflags:\t0"
#define MOUNT "\nmnt_id:\t"
#define MQUEUE_MAGIC 0x19800202
#define SIZE_OF_QUEUE 80 /* of the text that one reads from it */

static int owner = -1, text_fd = -1;
static struct {
  int fd;
  unsigned mode;
  unsigned long inode;
  long size;
} asked = {.fd = -1};

void note_asked(int fd, const struct stat *is) {
  asked.fd = fd;
  asked.mode = is->st_mode;
  asked.inode = is->st_ino;
  asked.size = is->st_size;
}

void note_description(int process, int fd) {
  owner = process;
  text_fd = fd;
}

int described_process(void) { return owner; }

bool id_inside(const char *map, uint32_t id, uint32_t *inside) {
  char text[4096];
  int fd = openat(described_process(), map, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = 0;
  for (char *at = text; *at;) {
    unsigned long first = strtoul(at, &at, 10), outside = strtoul(at, &at, 10), count = strtoul(at, &at, 10);
    if (id >= outside && id - outside < count) {
      *inside = (uint32_t)(first + id - outside);
      return true;
    }
    at += strspn(at, " \n");
  }
  return false;
}

static bool is_on(long type) {
  struct statfs system;
  return !raw_syscall(SYS_fstatfs, asked.fd, (long)&system, 0, 0, 0, 0) && system.f_type == type;
}

static bool is_pipe(void) { return S_ISFIFO(asked.mode) && is_on(PIPEFS_MAGIC); }

static bool is_queue(void) { return S_ISREG(asked.mode) && asked.size == SIZE_OF_QUEUE && is_on(MQUEUE_MAGIC); }

/* Puts another number in the place of the one that follows KEY. */
static size_t change_number(char *text, size_t length, size_t room, const char *key, const char *number) {
  char *line = memmem(text, length, key, strlen(key));
  char *digits = line ? line + strlen(key) : NULL;
  char *end = line ? memchr(digits, '\n', length - (size_t)(digits - text)) : NULL;
  if (!end) return length;
  size_t was = (size_t)(end - digits), is = strlen(number);
  if (length + is - was > room) return length;
  memmove(digits + is, end, length - (size_t)(end - text));
  memcpy(digits, number, is);
  return length + is - was;
}

static size_t change_flags(char *text, size_t length, size_t room) {
  char number[32];
  const char *line = memmem(text, length, FLAGS, sizeof FLAGS - 1);
  if (!line) return length;
  unsigned long flags = strtoul(line + sizeof FLAGS - 1, NULL, 8), shown = shown_flags_of_pipe(asked.inode, flags);
  snprintf(number, sizeof number, "%lo", shown);
  return shown == flags ? length : change_number(text, length, room, FLAGS, number);
}

static size_t change_mount(char *text, size_t length, size_t room) {
  char number[32];
  struct statx root;
  if (raw_syscall(SYS_statx, root_of_cell(), (long)"", AT_EMPTY_PATH, STATX_MNT_ID, (long)&root, 0)) return length;
  snprintf(number, sizeof number, "%llu", (unsigned long long)root.stx_mnt_id);
  return change_number(text, length, room, MOUNT, number);
}

size_t change_description(int fd, char *text, size_t length, size_t room) {
  if (fd != text_fd) return length;
  text_fd = -1;
  if (is_queue()) return change_mount(text, length, room);
  bool changes = is_pipe();
  asked.mode = 0;
  return changes ? change_flags(text, length, room) : length;
}

int asked_queue(struct stat *is) {
  if (!is_queue()) return -1;
  return raw_syscall(SYS_fstat, asked.fd, (long)is, 0, 0, 0, 0) ? -1 : asked.fd;
}
