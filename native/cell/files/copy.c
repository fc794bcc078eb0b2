/* Copies the content of a file, with its holes. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "view.h"

static void copy_range(const char *path, int from, int to, off_t start, off_t end) {
  static char block[1 << 17];
  for (off_t at = start; at < end;) {
    size_t wanted = end - at < (off_t)sizeof block ? (size_t)(end - at) : sizeof block;
    ssize_t got = pread(from, block, wanted, at);
    if (got < 0) die("pread '%s'", path);
    if (!got) return; /* shorter than it was when its size was read */
    for (ssize_t done = 0, n; done < got; done += n)
      if ((n = pwrite(to, block + done, (size_t)(got - done), at + done)) < 0) die("pwrite '%s'", path);
    at += got;
  }
}

/* Shares the blocks where the file system can; else copies what is not a hole. */
void copy_content(const char *path, int from, int to, off_t size) {
  if (!ioctl(to, FICLONE, from)) return;
  for (off_t at = 0; at < size;) {
    off_t start = lseek(from, at, SEEK_DATA);
    if (start < 0 && errno == ENXIO) break;
    off_t end = start < 0 ? size : lseek(from, start, SEEK_HOLE);
    if (start < 0) start = at; /* a file system that does not know holes */
    if (end < start || end > size) end = size;
    copy_range(path, from, to, start, end);
    at = end;
  }
  if (ftruncate(to, size)) die("ftruncate '%s'", path);
}
