/* Unread events of inotify. Nobody can make them again without touching the files that they are about. But the kernel
 * also loses events, when too many wait, and then tells the program with IN_Q_OVERFLOW, upon which it has to look for
 * itself. A copy is told the same: its queue is filled with events of a file that only we have, and emptied again up to
 * the last one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attributes.h"
#include "shared/owned.h"
#include "waits.h"

#define MOST_EVENTS 65536 /* it takes a microsecond for each */
#define EVENT (int)sizeof(struct inotify_event)
#define SET_NEXT_WATCH _IOW('I', 0, int) /* INOTIFY_IOC_SETNEXTWD */

/* How many may wait in a queue; 0 if they are too many for us. */
static int queue_length(void) {
  int length = 0;
  FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
  if (file && fscanf(file, "%d", &length) != 1) length = 0;
  if (file) fclose(file);
  return length > 0 && length <= MOST_EVENTS ? length : 0;
}

bool can_overflow(void) { return queue_length(); }

static int unread_bytes(int queue) {
  int bytes = 0;
  return ioctl(queue, FIONREAD, &bytes) ? -1 : bytes;
}

/* Another event each time: the kernel joins those that are the same. */
static int fill(int queue, int file, int length) {
  char byte = 0;
  for (int i = 0; i <= length; i++)
    if ((i & 1 ? pread(file, &byte, 1, 0) : pwrite(file, &byte, 1, 0)) != 1) return errno;
  return unread_bytes(queue) == (length + 1) * EVENT ? 0 : EOVERFLOW;
}

static int empty_but_one(int queue) {
  char events[256 * EVENT];
  for (int left; (left = unread_bytes(queue) - EVENT) > 0;) {
    size_t size = (size_t)left < sizeof events ? (size_t)left : sizeof events;
    if (read(queue, events, size) <= 0) return errno;
  }
  return unread_bytes(queue) == EVENT ? 0 : EIO;
}

static int overflow(int queue, int length) {
  char path[32];
  autoclose int memory = memfd_create("overflow", MFD_CLOEXEC);
  if (memory < 0) return errno;
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  autoclose int file = open(path, O_RDWR | O_CLOEXEC); /* the kernel reports nothing of the other descriptor */
  int watch = file < 0 ? -1 : inotify_add_watch(queue, path, IN_ACCESS | IN_MODIFY);
  if (watch < 0) return errno;
  int code = fill(queue, file, length);
  /* There is no room for the event that it is gone. */
  if (inotify_rm_watch(queue, watch) && !code) code = errno;
  ioctl(queue, SET_NEXT_WATCH, watch);
  int emptied = empty_but_one(queue);
  return code ? code : emptied;
}

int put_overflow(const struct target *target, const char *value) {
  int length = queue_length();
  (void)value;
  if (!length) return E2BIG;
  autoclose int queue = borrow_descriptor(target->process, target->descriptor);
  if (queue < 0) return EBADF;
  /* Another descriptor of the same queue, or the program is told something else. */
  return unread_bytes(queue) ? 0 : overflow(queue, length);
}
