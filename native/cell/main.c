/* cell: makes the namespaces, mounts and limits of environments, and does whatever else on the host needs C. The table
 * has every verb. A failure is one line on stderr: the system call, what it was applied to, and errno. */
#include <stdio.h>
#include <string.h>

#include "archive.h"
#include "create.h"
#include "criu.h"
#include "keeper.h"
#include "network.h"
#include "pairs.h"
#include "plain.h"
#include "report.h"
#include "subvolumes.h"
#include "tracking.h"
#include "unpack.h"
#include "view.h"
#include "waits.h"
#include "walls.h"
#include "watches.h"

#define ANY SIZE_MAX

struct verb {
  const char *name, *arguments;
  size_t least, most;        /* how many arguments */
  void (*run)(char **words); /* the arguments, and NULL */
  const char *help;
};

/* clang-format off: one per line */
static const struct verb verbs[] = {
    {"create", "OPTION…", 1, ANY, verb_create, "make a cell and print the host's pid of its agent"},
    {"plain", "FILES AT RUN SHOWN serve|leave-pids|finish PROGRAM…", 6, ANY, verb_plain,
     "run a program with the host's files, but one directory of its own (plain.c)"},
    {"keeper", "", 0, 0, verb_keeper, "start processes and keep workers ready (keeper.c)"},
    {"connect", "--pid PID OPTION…", 1, ANY, verb_connect, "give a running cell its network again"},
    {"disconnect", "INTERFACE [ADDRESS…]", 1, ANY, verb_disconnect, "remove a cell's link and its tracked connections"},
    {"tracked-connections", "ADDRESS PORT:ADDRESS:PORT…", 1, ANY, verb_tracked_connections,
     "print both ends of connections, as the outside sees them (give.c)"},
    {"give-connections", "PID FROM TO PORT:ADDRESS:PORT…", 3, ANY, verb_give_connections,
     "give connections from one cell's address to another's, and close them in the first (give.c)"},
    {"hostname", "PID NAME", 2, 2, verb_hostname, "set the hostname of a cell"},
    {"mask", "PID", 1, 1, verb_mask, "hide kernel interfaces that earlier versions showed (remask.c)"},
    {"filter", "", 0, 0, verb_filter, "print the instructions of the system call filter"},
    {"limit-devices", "CGROUP", 1, 1, verb_limit_devices, "limit the devices that a home's cells can open (devices.c)"},
    {"devices", "DIRECTORY", 1, 1, verb_devices, "fill the template of every cell's /dev"},
    {"whiteouts", "PATH…", 1, ANY, verb_whiteouts, "hide these names of the layers below"},
    {"opaque", "DIRECTORY…", 1, ANY, verb_opaque, "hide the content that these directories have in the layers below"},
    {"relink", "PID", 1, 1, verb_relink, "give names to open files of a cell (relink.c)"},
    {"unlink", "PID", 1, 1, verb_unlink, "remove such names"},
    {"names", "PID", 1, 1, verb_names, "tell which names of a cell are free (relink.c)"},
    {"rewatch", "CGROUP PID LAYER…", 3, ANY, verb_rewatch,
     "look up watched files whose names the kernel forgot (rewatch.c)"},
    {"relock", "CGROUP [hold]", 1, 2, verb_relock, "take fcntl locks for the processes of a frozen cell (relock.c)"},
    {"tracked", "DIRECTORY SNAPSHOT", 2, 2, verb_tracked,
     "print the processes whose writes since a snapshot are known, and the bytes of those (tracked.c)"},
    {"trackable", "", 0, 0, verb_trackable, "print why this kernel cannot track writes, if it cannot"},
    {"arm", "LIFE", 1, 1, verb_arm, "track the writes of a running cell, and note which pages (live.c)"},
    {"live-copy", "LIFE NAME DIRECTORY LEAST", 4, 4, verb_live_copy, "copy memory of a running cell (live.c)"},
    {"hold", "DIRECTORY SOCKET PIDFD", 3, 3, verb_hold, "keep what tracking needs until a cell ends (holder.c)"},
    {"waits", "CGROUP [IMAGES [DIRECTORY]]", 1, 3, verb_waits,
     "keep the waits of a cell over a snapshot (waits/verb.c)"},
    {"pairs", "DEVICE SUBVOLUME [lone]", 2, 3, verb_pairs,
     "find where the pages listed on stdin have a device number beside that of an inode (pairs/search.c)"},
    {"rejoin", "PID INDEX LAYER…", 3, ANY, verb_rejoin,
     "copy up all names of changed files with hard links (rejoin.c)"},
    {"punch", "FILE", 1, 1, verb_punch, "free the ranges of a file that are listed on stdin (punch.c)"},
    {"squash", "DIRECTORY LAYER…", 2, ANY, verb_squash, "make one layer of several (squash.c)"},
    {"scan", "DIRECTORY", 1, 1, verb_scan, "print every entry below a directory (record.c)"},
    {"lookup", "LAYER…", 1, ANY, verb_lookup, "print the entry at each path on stdin"},
    {"list", "LAYER…", 1, ANY, verb_list, "print the entry at each path on stdin, and everything below it"},
    {"read", "LAYER…", 1, ANY, verb_read, "print the content of the file at each path on stdin (content.c)"},
    {"compare", "LAYER… -- LAYER…", 3, ANY, verb_compare,
     "tell whether the file at each path on stdin has changed (content.c)"},
    {"subvolume-snapshot", "FROM TO", 2, 2, verb_subvolume_snapshot, "copy a subvolume, read-only (subvolumes.c)"},
    {"subvolume-flush", "PATH DRAFT", 2, 2, verb_subvolume_flush, "make the next snapshot of a subvolume quick"},
    {"subvolume-ahead", "SNAPSHOT", 1, 1, verb_subvolume_ahead, "make the next copy of a snapshot quick (ahead.c)"},
    {"subvolume-delete", "PATH…", 1, ANY, verb_subvolume_delete, "delete subvolumes"},
    {"subvolume-written", "PATH [SNAPSHOT]", 1, 2, verb_subvolume_written,
     "print how many bytes a subvolume has written since a snapshot (written.c)"},
    {"subvolume-send", "FROM TO", 2, 2, verb_subvolume_send, "print how two snapshots differ (send.c)"},
    {"subvolume-peek", "SUBVOLUME", 1, 1, verb_subvolume_peek,
     "print the entry at each path on stdin, and its other names (peek.c)"},
    {"subvolume-limit", "PATH BYTES ROOM", 3, 3, verb_subvolume_limit,
     "limit the space that its files take, and print how much they take (limit.c)"},
    {"subvolume-unlimit", "PATH", 1, 1, verb_subvolume_unlimit, "lift that limit"},
    {"resize-files", "PATH BYTES", 2, 2, verb_resize_files, "change the size of a mounted btrfs (resize.c)"},
    {"back-metadata", "PATH FILE", 2, 2, verb_back_metadata,
     "give the metadata of a btrfs in a sparse file real blocks (back-metadata.c)"},
    {"unpack", "DIRECTORY MOST", 2, 2, verb_unpack,
     "unpack the layer of an image on stdin, at most MOST bytes (unpack.c)"},
    {"archive", "BASE:COUNT LAYER…", 2, ANY, verb_archive, "print files of layers as a tar archive (archive.c)"},
};
/* clang-format on */

#define COUNT (sizeof verbs / sizeof *verbs)

static void print_verb(const struct verb *verb) {
  fprintf(stderr, "  cell %s%s%s\n      %s\n", verb->name, *verb->arguments ? " " : "", verb->arguments, verb->help);
}

static const struct verb *find_verb(const char *name) {
  for (size_t i = 0; name && i < COUNT; i++)
    if (!strcmp(verbs[i].name, name)) return &verbs[i];
  fputs("usage:\n", stderr);
  for (size_t i = 0; i < COUNT; i++) print_verb(&verbs[i]);
  if (name) die_because("cell has no verb '%s'; use one of the above", name);
  die_because("cell needs a verb; use one of the above");
}

static void require_arguments(const struct verb *verb, char **words) {
  size_t count = count_words(words);
  if (count >= verb->least && count <= verb->most) return;
  fputs("usage:\n", stderr);
  print_verb(verb);
  die_because("%zu arguments are too %s for cell %s", count, count < verb->least ? "few" : "many", verb->name);
}

int main(int argc, char **argv) {
  char **words = argv + (argc > 1 ? 2 : 1);
  const struct verb *verb = find_verb(argc > 1 ? argv[1] : NULL);
  require_arguments(verb, words);
  verb->run(words);
  if (fflush(stdout) || ferror(stdout)) die("write stdout");
  return 0;
}
