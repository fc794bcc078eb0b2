/* What differs between two read-only subvolumes, as the kernel compares their trees: it skips what they share. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "subvolumes.h"
#include "tree.h"

/* FROM TO: prints a stream of version 1, without the content of files. */
void verb_subvolume_send(char **words) {
  int from = open_subvolume(words[0]), to = open_subvolume(words[1]);
  struct btrfs_ioctl_send_args args = {.send_fd = STDOUT_FILENO,
                                       .parent_root = subvolume_info(from, words[0]).treeid,
                                       .flags = BTRFS_SEND_FLAG_NO_FILE_DATA};
  if (ioctl(to, BTRFS_IOC_SEND, &args)) die("compare the subvolumes '%s' and '%s'", words[0], words[1]);
}
