/* Copies memory of a cell while it runs, so that its next dump need not:
 *
 *   1. In a short stop, processes get what they need to be armed ("prepare", see waits/verb.c).
 *   2. They are armed while they run (`verb_arm`), and the pages are noted (NOTES_NAME).
 *   3. In another short stop, the pages that were written meanwhile are armed and noted ("live"). Only from here on is
 *      it certain that no write goes unnoticed: the kernel may have been about to write to a page when it was armed.
 *   4. The noted pages are copied (`verb_live_copy`). The dump takes those that were written since 3 from the process,
 *      so a page that changes while it is copied does no harm.
 *
 * DIRECTORY gets a file of pages for each process, named after its pid on the host, and `copied`, which says what those
 * files hold, in order: notes of the same form. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "holder.h"
#include "report.h"
#include "shared/owned.h"

#define PAGE_BYTES 4096UL
#define BUFFER_BYTES (1UL << 20)
#define MOST_PARTS 256
#define FLUSHED (1UL << 30) /* so much would still be on its way to the disk in the stop, and make it longer */
#define ARMING_S 60         /* measured: 2 GB take 50 ms */

struct notes {
  struct page_note *all;
  size_t count;
};

static void add_note(struct notes *notes, struct page_note note) {
  struct page_note *last = notes->count ? &notes->all[notes->count - 1] : NULL;
  if (last && last->pid == note.pid && last->end == note.start) {
    last->end = note.end;
    return;
  }
  if ((notes->count & (notes->count - 1)) == 0) /* it is full, and doubles */
    notes->all = require_memory(realloc(notes->all, (notes->count ? 2 * notes->count : 1) * sizeof note));
  notes->all[notes->count++] = note;
}

static int by_address(const void *left, const void *right) {
  const struct page_note *a = left, *b = right;
  if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
  return (a->start > b->start) - (a->start < b->start);
}

/* In order, each page once: some were armed twice. */
static struct notes in_order(struct notes all) {
  struct notes notes = {0};
  if (all.count) qsort(all.all, all.count, sizeof *all.all, by_address);
  for (size_t i = 0; i < all.count; i++) {
    struct page_note note = all.all[i], *last = notes.count ? &notes.all[notes.count - 1] : NULL;
    if (last && last->pid == note.pid && note.start < last->end) note.start = last->end;
    if (note.start < note.end) add_note(&notes, note);
  }
  free(all.all);
  return notes;
}

static struct notes read_notes(const char *life) {
  struct notes notes = {0};
  struct page_note note;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/" NOTES_NAME, life);
  FILE *file = fopen(path, "re");
  if (!file) die("open '%s'", path);
  while (fread(&note, sizeof note, 1, file) == 1) add_note(&notes, note);
  fclose(file);
  return in_order(notes);
}

static void write_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t written = write(fd, bytes, length);
    if (written < 0) die("write the memory of a process");
    bytes += written;
    length -= (size_t)written;
  }
}

/* Where the next bytes of a process's notes are, as far as they fit into the buffer. */
static size_t next_parts(const struct notes *wanted, size_t at, uint64_t from, struct iovec *parts, size_t *bytes) {
  size_t count = 0;
  *bytes = 0;
  for (; at < wanted->count && count < MOST_PARTS && *bytes < BUFFER_BYTES; at++) {
    uint64_t start = count ? wanted->all[at].start : from, length = wanted->all[at].end - start;
    if (length > BUFFER_BYTES - *bytes) length = BUFFER_BYTES - *bytes;
    parts[count++] = (struct iovec){(void *)start, length};
    *bytes += length;
  }
  return count;
}

/* Notes the first BYTES of these parts as copied. */
static void note_copied(struct notes *copied, pid_t pid, const struct iovec *parts, size_t count, size_t bytes) {
  for (size_t i = 0; i < count && bytes; i++) {
    uint64_t start = (uint64_t)parts[i].iov_base, length = parts[i].iov_len < bytes ? parts[i].iov_len : bytes;
    add_note(copied, (struct page_note){(uint64_t)pid, start, start + length});
    bytes -= length;
  }
}

/* The place in WANTED after BYTES more. */
static void advance(const struct notes *wanted, size_t *at, uint64_t *from, size_t bytes) {
  while (bytes && *at < wanted->count) {
    uint64_t left = wanted->all[*at].end - *from;
    uint64_t step = left < bytes ? left : bytes;
    bytes -= step;
    *from += step;
    if (*from < wanted->all[*at].end) return;
    if (++*at < wanted->count) *from = wanted->all[*at].start;
  }
}

/* Reads through /proc: process_vm_readv pins pages, and for that the kernel gives each process its own copy of those
 * that it has in common with its parent. */
static ssize_t read_parts(int memory, const struct iovec *parts, size_t count, char *buffer) {
  size_t got = 0;
  for (size_t i = 0; i < count; i++) {
    ssize_t read = pread(memory, buffer + got, parts[i].iov_len, (off_t)parts[i].iov_base);
    if (read > 0) got += (size_t)read;
    if (read < (ssize_t)parts[i].iov_len) break;
  }
  return (ssize_t)got;
}

/* A page that has gone is passed over: the dump will not find it, either, or finds another one that was written. */
static void copy_pages(pid_t pid, const struct notes *wanted, int to, struct notes *copied) {
  static char buffer[BUFFER_BYTES];
  struct iovec parts[MOST_PARTS];
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  autoclose int memory = open(path, O_RDONLY | O_CLOEXEC);
  if (memory < 0) return;
  uint64_t from = wanted->count ? wanted->all[0].start : 0;
  for (size_t at = 0; at < wanted->count;) {
    size_t bytes, count = next_parts(wanted, at, from, parts, &bytes);
    ssize_t got = read_parts(memory, parts, count, buffer);
    size_t whole = got > 0 ? (size_t)got / PAGE_BYTES * PAGE_BYTES : 0;
    write_all(to, buffer, whole);
    note_copied(copied, pid, parts, count, whole);
    advance(wanted, &at, &from, whole == bytes ? whole : whole + PAGE_BYTES);
  }
}

static bool is_tracked(const char *life, pid_t pid, const char *name) {
  struct list list = {0};
  autoclose int holder = connect_in(life);
  if (holder < 0 || !get_list(holder, &list)) return false;
  const struct listed *listed = find_listed(&list, pid);
  bool found = listed && !strncmp(listed->name, name, MOST_NAME);
  free(list.all);
  return found;
}

static uint64_t length_of(const struct notes *notes) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < notes->count; i++) bytes += notes->all[i].end - notes->all[i].start;
  return bytes;
}

/* That the process is still the one that was armed, and has not become another program, is known only afterwards. */
static void copy_process(char **words, const struct notes *wanted, int list) {
  const char *life = words[0], *name = words[1], *directory = words[2];
  pid_t pid = (pid_t)wanted->all[0].pid;
  struct notes copied = {0};
  char path[PATH_MAX];
  if (length_of(wanted) < strtoull(words[3], NULL, 10)) return;
  snprintf(path, sizeof path, "%s/pages-%d", directory, pid);
  autoclose int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (to < 0) die("open '%s'", path);
  copy_pages(pid, wanted, to, &copied);
  if (length_of(&copied) >= FLUSHED && fdatasync(to)) die("fdatasync '%s'", path);
  if (is_tracked(life, pid, name))
    write_all(list, (const char *)copied.all, copied.count * sizeof *copied.all);
  else if (unlink(path))
    die("unlink '%s'", path);
  free(copied.all);
}

void verb_live_copy(char **words) {
  struct notes notes = read_notes(words[0]);
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/copied", words[2]);
  autoclose int list = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (list < 0) die("open '%s'", path);
  for (size_t first = 0, next; first < notes.count; first = next) {
    for (next = first; next < notes.count && notes.all[next].pid == notes.all[first].pid;) next++;
    copy_process(words, &(struct notes){notes.all + first, next - first}, list);
  }
  free(notes.all);
}

/* Arms all processes that the holder has. Writes since an earlier snapshot are then no longer known. */
void verb_arm(char **words) {
  struct request request = {.kind = ARM};
  struct armed armed;
  struct timeval patience = {.tv_sec = ARMING_S};
  int none;
  autoclose int notes = open_notes(words[0], O_TRUNC);
  autoclose int holder = notes < 0 ? -1 : connect_in(words[0]);
  if (holder < 0 || setsockopt(holder, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience))
    die("connect to the holder of '%s'", words[0]);
  if (!send_packet(holder, &request, sizeof request, notes)) die("send to the holder of '%s'", words[0]);
  if (receive_packet(holder, &armed, sizeof armed, &none) != (ssize_t)sizeof armed)
    die("receive from the holder of '%s'", words[0]);
}
