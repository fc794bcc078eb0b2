/* Finds device numbers beside inode numbers in the pages of dumped processes. A device number counts only in a whole,
 * aligned word, and only next to an inode number of the environment, on either side, as in `struct stat` and in the
 * tables of SQLite, fts, tar, cp and tail; or in `struct statx`, where both have fixed places. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "io.h"
#include "pairs.h"
#include "report.h"
#include "shared/owned.h"

#define WORD sizeof(uint64_t)
#define PIECE (1 << 17)  /* words that are read at once */
#define BLOCK 64         /* words that are looked at together */
#define LEAD 16          /* words before a piece, for what lies across its start */
#define STATX_BETWEEN 13 /* words from the inode number to the device number */
#define STATX_BEFORE 15  /* words from the number of links to it */

_Static_assert(offsetof(struct statx, stx_dev_major) - offsetof(struct statx, stx_ino) == STATX_BETWEEN * WORD, "");

struct search {
  uint64_t plain, statx; /* the words to find */
  struct inodes inodes;
  bool shows_lone;              /* device numbers beside which there is nothing */
  pid_t pid;                    /* whose memory it is */
  uint64_t end;                 /* address after what was searched before */
  uint64_t words[LEAD + PIECE]; /* the first ones are the end of what was searched before, or zero */
};

/* Pages of a process, and where to find them. */
struct pages {
  pid_t pid;
  uint64_t start, end, offset;
  const char *path;
};

uint64_t word_of(dev_t device, bool is_statx) { return is_statx ? (uint64_t)minor(device) << 32 : device; }

static bool is_nanoseconds(uint64_t word) { return word < 1000000000; }

static bool is_mode(uint64_t mode) {
  return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) || S_ISFIFO(mode) ||
         S_ISSOCK(mode);
}

/* Whether INODE is in a `struct statx`. Two small numbers at the right distance are not enough: 256 << 32 beside 512 is
 * also in the table with which bash tells characters apart. */
static bool is_in_statx(const uint64_t *inode) {
  for (size_t i = 0; i < 4; i++) /* the fraction of each time */
    if (!is_nanoseconds(inode[5 + 2 * i])) return false;
  return (uint32_t)inode[-2] && is_mode(inode[-1] >> 32); /* links, and what kind of file it is */
}

/* One of numbers at equal distances, as a table may have them, is not beside an inode number, even if there is one with
 * the next number. */
static bool is_in_sequence(const uint64_t *words, size_t at, size_t end) {
  return at > 0 && at + 1 < end && words[at] - words[at - 1] == words[at + 1] - words[at];
}

static bool is_beside_inode(struct inodes *inodes, const uint64_t *words, size_t at, size_t end) {
  if (is_in_sequence(words, at, end)) return false;
  return (at > 0 && is_inode(inodes, words[at - 1])) || (at + 1 < end && is_inode(inodes, words[at + 1]));
}

static const char *kind_of(struct search *search, size_t at, size_t end) {
  const uint64_t *words = search->words;
  struct inodes *inodes = &search->inodes;
  if (words[at] == search->statx) {
    if (at < STATX_BEFORE || !is_inode(inodes, words[at - STATX_BETWEEN])) return NULL;
    return is_in_statx(words + at - STATX_BETWEEN) ? "statx" : NULL;
  }
  if (is_beside_inode(inodes, words, at, end)) return "plain";
  /* What follows the last word is not known yet: it is looked at once more. */
  bool is_lone = search->shows_lone && !inodes->is_weak && at + 1 < end && !is_in_sequence(words, at, end);
  return is_lone ? "lone" : NULL;
}

static void consider(struct search *search, size_t at, size_t end, uint64_t start) {
  const char *kind = kind_of(search, at, end);
  if (kind) printf("%d %" PRIu64 " %s\n", search->pid, start + (at - LEAD) * WORD, kind);
}

/* Nearly every block has none. Without a branch in it, the compiler compares several words at once. */
static bool may_have(const struct search *search, const uint64_t *block, size_t count) {
  uint64_t found = 0;
  for (size_t i = 0; i < count; i++) found |= (block[i] == search->plain) | (block[i] == search->statx);
  return found;
}

/* The last word of the lead is looked at once more, as what follows it was not known. */
static void search_words(struct search *search, size_t count, uint64_t start) {
  size_t end = LEAD + count;
  for (size_t at = LEAD - 1; at < end; at += BLOCK) {
    size_t block = end - at < BLOCK ? end - at : BLOCK;
    if (!may_have(search, search->words + at, block)) continue;
    for (size_t i = at; i < at + block; i++)
      if (search->words[i] == search->plain || search->words[i] == search->statx) consider(search, i, end, start);
  }
}

/* Beyond the end of a file, memory is zero. */
static void read_words(struct search *search, int fd, const struct pages *pages, uint64_t at, size_t length) {
  char *to = (char *)(search->words + LEAD);
  size_t done = 0;
  for (ssize_t n; done < length; done += (size_t)n) {
    n = pread(fd, to + done, length - done, (off_t)(pages->offset + at - pages->start + done));
    if (n < 0) die("read '%s'", pages->path);
    if (n == 0) break;
  }
  memset(to + done, 0, length - done);
}

static void search_pages(struct search *search, const struct pages *pages) {
  autoclose int fd = open(pages->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("open '%s'", pages->path);
  if (search->pid != pages->pid || search->end != pages->start) memset(search->words, 0, LEAD * WORD);
  search->pid = pages->pid;
  size_t length;
  for (uint64_t at = pages->start; at < pages->end; at += length) {
    length = pages->end - at < PIECE * WORD ? pages->end - at : PIECE * WORD;
    read_words(search, fd, pages, at, length);
    search_words(search, length / WORD, at);
    memmove(search->words, search->words + length / WORD, LEAD * WORD);
  }
  search->end = pages->end;
}

/* DEVICE SUBVOLUME [lone]. On stdin: a line PID START END OFFSET PATH for each run of pages, in order of addresses.
 * Prints a line PID ADDRESS plain|statx for each device number, or lone if that is asked for. */
void verb_pairs(char **words) {
  static struct search search;
  struct pages pages;
  autofree char *line = NULL;
  size_t room = 0;
  int path = 0;
  dev_t device = strtoull(words[0], NULL, 10);
  search.plain = word_of(device, false);
  search.statx = word_of(device, true);
  search.shows_lone = words[2];
  search.inodes = (struct inodes){.subvolume = words[1], .is_weak = !is_strong(device)};
  for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    int found = sscanf(line, "%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &pages.pid, &pages.start, &pages.end,
                       &pages.offset, &path);
    if (found != 4 || pages.start % WORD || pages.end % WORD) die_because("'%s' describes no pages", line);
    pages.path = line + path;
    search_pages(&search, &pages);
  }
}
