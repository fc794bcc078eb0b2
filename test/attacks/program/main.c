/* attacks list                      names of all attacks
 * attacks poses                     names of all poses
 * attacks run [NAME...]             tries each in a separate process, for at most ten seconds
 * attacks watch DIRECTORY PASS...   makes what attacks aim at, and reports what changed (watch.c)
 * attacks weak DIRECTORY [NAME...]  both, on the host, in namespaces without isolation (weak.c)
 * attacks pose NAME                 a process whose files have hostile names, for a snapshot (pose.c)
 *
 * A result is a line NAME, OUTCOME, DETAIL, separated by tabs. After the line "done", what attacks hold is
 * kept until standard input ends. */
#define _GNU_SOURCE
#include "modes.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const char *mode = argc > 1 ? argv[1] : "";
  if (!strcmp(mode, "list")) return list_attacks();
  if (!strcmp(mode, "poses")) return list_poses();
  if (!strcmp(mode, "run")) return run_attacks(argv + 2);
  if (!strcmp(mode, "watch") && argc > 3) return watch(argv[2], argv + 3);
  if (!strcmp(mode, "weak") && argc > 2) return run_in_weak_place(argv[2], argv + 3);
  if (!strcmp(mode, "pose") && argc > 2) return pose(argv[2]);
  fprintf(stderr, "usage: attacks list | poses | run [NAME...] | watch DIRECTORY PASS... | weak DIRECTORY [NAME...] | pose NAME\n");
  return 2;
}
