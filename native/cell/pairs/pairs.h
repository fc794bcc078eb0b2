/* Programs remember which file is which: they keep its device number beside its inode number, as stat(2) returned them.
 * A copy of a cell has the same inode numbers, but its files are on another device. So the pairs in the memory of its
 * processes are found in the images of a snapshot, and every copy gets its own device number there before it runs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a process keeps a device number. */
struct spot {
  pid_t pid; /* inside */
  uint64_t address;
  bool is_statx; /* as statx has it: only the minor number, in the upper half of the word */
};

struct spots {
  dev_t device; /* that they have */
  struct spot *list;
  size_t count;
};

/* The word that a spot with this device has. */
uint64_t word_of(dev_t device, bool is_statx);

/* inodes.c */
struct inodes {
  const char *subvolume; /* that the environment writes to */
  bool is_weak;          /* the device number could be any small number, so more than that has to fit */
  uint64_t *list;        /* of the subvolume, in order, once somebody asked */
  size_t count;
};

/* Whether a file of the environment has this inode number. */
bool is_inode(struct inodes *inodes, uint64_t number);

/* search.c */
void verb_pairs(char **words);

/* move.c */
void read_spots(struct spots *spots, const char *path);
/* Gives the processes of a copy, which have not run yet, the device number of its files. */
void move_pairs(const struct spots *spots, const char *cgroup, dev_t device);

/* numbers.c */
/* Device numbers below this one look like any small number in memory, or like a flag: 256 is 0x100000, as stat(2)
 * returns it, which bash has beside numbers of its own. This one is 0x1000b7. */
#define FIRST_STRONG 439
bool is_strong(dev_t device);
/* Takes device numbers until the next one is strong. They are free again once this process has ended. */
void take_weak_numbers(void);
/* Starts a process that keeps them taken for as long as this one lives, so that others need not take them. */
void keep_numbers_taken(void);
