/* The memory areas of a process, without a look at its pages. CRIU reads /proc/PID/smaps for the flags of each area,
 * and the kernel then counts all pages: 25 ms for 2 GB, in which the cell stands still. A small BPF program tells the
 * flags alone, where the kernel allows that. What each bit of them means is learned from areas of our own, because it
 * differs between kernels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct area_flags {
  uint64_t start, end, flags;
};

struct areas {
  struct area_flags *all;
  size_t count;
};

/* layout.c: where the kernel's own description of its types has what the program needs. */
struct layout {
  uint32_t function;          /* what the program attaches to */
  uint32_t start, end, flags; /* offsets in the kernel's `struct vm_area_struct` */
};
bool find_layout(struct layout *layout);

/* iterate.c */
int load_lister(const struct layout *layout); /* -1: this kernel has or allows none */
bool list_areas(int lister, pid_t thread, struct areas *areas);

/* learn.c: words of smaps, such as "rd" and "wr", by the bits that they stand for. */
#define WORDS 64
struct vocabulary {
  uint64_t known; /* bits */
  struct {
    uint64_t bits; /* which have always been set together */
    char text[WORDS * 3];
  } groups[WORDS];
  size_t count;
};
bool learn_words(int lister, struct vocabulary *vocabulary);
/* False if there is a bit that is not known. */
bool put_words(const struct vocabulary *vocabulary, uint64_t flags, char *text, size_t room);

/* listing.c */
struct lister {
  int program; /* -1: there is none */
  struct vocabulary words;
};
/* Before the freeze; only if a process of the cell is large. */
struct lister prepare_lister(const char *cgroup);
/* After it: writes `smaps-PID` into DIRECTORY for each large process. Without it, CRIU reads the kernel's. */
void write_listings(const struct lister *lister, const char *cgroup, const char *directory);
