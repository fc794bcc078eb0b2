/* Runs of memory, mapped from a file instead. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "remap.h"
#include "shared/owned.h"

#define HUGE_PAGE (2ULL << 20)
#define LEAST_BYTES (64ULL << 10) /* a shorter piece is not worth a mapping */
#define PARKED_BYTES (4ULL << 20) /* less is freed faster than it is moved */

/* A part of a run. */
struct piece {
  uint64_t start, bytes, offset;
};

/* The last resort: without this memory, the process would do something else than it was told to. */
static int kill_process(const struct inside *inside, const struct error *why, struct error *error) {
  pid_t pid = inside->process->pid;
  kill(pid, SIGKILL);
  return error_refuse(error, why->code, "pid %d was killed, because its memory could not be put back: %s", pid,
                      why->text);
}

static int map_with(const struct inside *inside, const struct run *run, const struct piece *piece, int flags,
                    struct error *error) {
  long result;
  uint64_t arguments[6] = {
      piece->start,           piece->bytes, (uint64_t)run->protection, (uint64_t)(MAP_PRIVATE | flags),
      (uint64_t)inside->file, piece->offset};
  return call_inside(inside, "mmap", SYS_mmap, arguments, &result, error);
}

static bool is_there(const struct inside *inside, const struct piece *piece) {
  struct error ignored;
  char byte;
  return !read_memory(inside->process->pid, piece->start, &byte, 1, &ignored);
}

/* Some kernels first remove what is there, and may then find that they have promised too much memory. */
static int map_over(const struct inside *inside, const struct run *run, const struct piece *piece,
                    struct error *error) {
  struct error why;
  if (!map_with(inside, run, piece, MAP_FIXED | run->flags, error)) return 0;
  if (is_there(inside, piece)) return -1;
  if (!map_with(inside, run, piece, MAP_FIXED | MAP_NORESERVE, &why)) return 0;
  return kill_process(inside, &why, error);
}

static int move(const struct inside *inside, uint64_t from, uint64_t to, uint64_t bytes, struct error *error) {
  uint64_t arguments[6] = {from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to};
  long ignored;
  return call_inside(inside, "mremap", SYS_mremap, arguments, &ignored, error);
}

/* Where the kernel can move whole page tables at once. */
static uint64_t place_for(const struct piece *piece, uint64_t at) {
  uint64_t place = (at & ~(HUGE_PAGE - 1)) | (piece->start & (HUGE_PAGE - 1));
  return place < at ? place + HUGE_PAGE : place;
}

/* Moves the memory aside, and maps the file where it was. Between the two there is nothing, so the process must not
 * survive us. *AT is where there is room for it. */
static int map_aside(const struct inside *inside, const struct run *run, const struct piece *piece, uint64_t *at,
                     struct error *error) {
  struct error why;
  uint64_t place = place_for(piece, *at);
  if (!tie(inside->thread->id) || move(inside, piece->start, place, piece->bytes, &why)) {
    untie(inside->thread->id);
    return map_over(inside, run, piece, error);
  }
  *at = place + piece->bytes;
  int failed = map_with(inside, run, piece, MAP_FIXED | run->flags, error);
  if (failed && move(inside, place, piece->start, piece->bytes, &why)) kill_process(inside, &why, error);
  untie(inside->thread->id);
  return failed;
}

static int advise(const struct inside *inside, const struct run *run, const struct piece *piece, struct error *error) {
  for (uint64_t advice = 0; advice < 64; advice++) {
    uint64_t arguments[6] = {piece->start, piece->bytes, advice};
    long ignored;
    if (!(run->advice >> advice & 1)) continue;
    if (call_inside(inside, "madvise", SYS_madvise, arguments, &ignored, error)) return -1;
  }
  return 0;
}

static uint64_t most_parked(const struct run *runs, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    if (runs[i].end - runs[i].start >= PARKED_BYTES) bytes += runs[i].end - runs[i].start + 2 * HUGE_PAGE;
  return bytes;
}

/* /proc/PID/maps, with a number that a child of ours keeps open. */
static int open_areas(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, KEPT_OPEN);
}

/* If there is no room, everything is freed at once. */
static void make_park(const struct inside *inside, struct park *park, uint64_t bytes) {
  uint64_t arguments[6] = {0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1};
  struct error ignored;
  long start;
  *park = (struct park){.pid = inside->process->pid, .areas = bytes ? open_areas(inside->process->pid) : -1};
  if (park->areas < 0) return;
  if (call_inside(inside, "mmap", SYS_mmap, arguments, &start, &ignored)) return;
  park->start = (uint64_t)start;
  park->end = park->start + bytes;
}

/* A child must not inherit it: nobody would free it there. */
static void close_park(const struct inside *inside, struct park *park, uint64_t used) {
  uint64_t arguments[6] = {park->start, park->end - park->start, MADV_DONTFORK};
  struct error ignored;
  long none;
  if (park->start == park->end) return;
  if (used == park->start) {
    call_inside(inside, "munmap", SYS_munmap, arguments, &none, &ignored);
    park->end = park->start;
  } else
    call_inside(inside, "madvise", SYS_madvise, arguments, &none, &ignored);
}

static int map_run(const struct inside *inside, const struct run *run, const struct spots *spots, uint64_t *at,
                   struct error *error) {
  uint64_t start = run->start, stop, next;
  for (; next_clear(spots, &start, run->end, &stop, &next); start = next) {
    struct piece piece = {start, stop - start, run->offset + (start - run->start)};
    bool parks = *at && piece.bytes >= PARKED_BYTES;
    if (piece.bytes < LEAST_BYTES) continue;
    if ((parks ? map_aside(inside, run, &piece, at, error) : map_over(inside, run, &piece, error))) return -1;
    if (run->advice && advise(inside, run, &piece, error)) return -1;
  }
  return 0;
}

int map_runs(const struct inside *inside, const struct run *runs, size_t count, enum freeing freeing, struct park *park,
             struct error *error) {
  struct spots spots;
  if (find_spots(inside, &spots, error)) return -1;
  make_park(inside, park, freeing == FREE_LATER ? most_parked(runs, count) : 0);
  uint64_t at = park->start;
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) failed = map_run(inside, &runs[i], &spots, &at, error);
  close_park(inside, park, at);
  free(spots.pages);
  return failed;
}
