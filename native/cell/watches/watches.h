/* Watched files whose names the kernel has forgotten. A watch holds an inode, not the name that led to it, and under
 * memory pressure the kernel drops the name. Then CRIU finds no path of the file, or cannot dump the watch at all,
 * because OverlayFS makes no handle for a file without a name. Looking the file up brings the name back.
 *
 * Programs may be watching for any access. So nothing is opened through the mounts of the cell, except with O_PATH,
 * which causes no event and changes no time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct processes {
  pid_t *pids;
  size_t count;
};

/* lost.c: inode numbers of watched files without a name, sorted, each once */
struct lost {
  uint64_t *inodes;
  size_t count;
};
/* ROOT is that of the cell. If KNOWN is given, only its files are looked at. */
struct lost find_lost(const struct processes *processes, int root, const struct lost *known);
bool is_lost(const struct lost *lost, uint64_t inode);

/* rewatch.c */
void verb_rewatch(char **words);
