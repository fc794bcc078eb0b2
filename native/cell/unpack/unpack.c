/* cell unpack DIRECTORY MOST: unpacks the archive on stdin into a directory that is empty and that nobody else uses.
 * Refuses more than MOST bytes. Prints how many members and bytes there were.
 *
 * The process has no root but this directory, so even a mistake here cannot reach the host's files. */
#define _GNU_SOURCE
#include "unpack.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "shared/owned.h"

#define MOST_MEMBERS 5000000

static int enter(const char *directory) {
  if (unshare(CLONE_NEWNS | CLONE_NEWNET)) die("unshare mount and network namespace");
  if (chdir(directory)) die("chdir '%s'", directory);
  if (chroot(".")) die("chroot '%s'", directory);
  umask(0);
  int root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) die("open '%s'", directory);
  return root;
}

void verb_unpack(char **words) {
  autoclose int root = enter(words[0]);
  unsigned long long most = strtoull(words[1], NULL, 10), members = 0, bytes = 0;
  for (struct member member; next_member(&member); free_member(&member)) {
    if (++members > MOST_MEMBERS) die_because("the archive has more than %d members", MOST_MEMBERS);
    if (member.size > most - bytes)
      die_because("the archive has more than %llu bytes: there is '%s' of %llu", most, shown(member.name),
                  (unsigned long long)member.size);
    bytes += member.size;
    place_member(root, &member);
  }
  drain_input();
  if (syncfs(root)) die("syncfs");
  printf("%llu %llu\n", members, bytes);
}
