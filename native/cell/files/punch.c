/* Frees ranges of a file, which read as zeros from then on. Each line of stdin is an offset and a length. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "report.h"
#include "view.h"

void verb_punch(char **words) {
  int fd = open(words[0], O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("open %s", words[0]);
  int64_t offset, length;
  int found;
  while ((found = scanf("%" SCNd64 " %" SCNd64, &offset, &length)) == 2)
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length))
      die("fallocate %s at %" PRId64 ", %" PRId64 " bytes", words[0], offset, length);
  if (found != EOF) die_because("a line of stdin is not an offset and a length");
  if (close(fd)) die("close %s", words[0]);
}
