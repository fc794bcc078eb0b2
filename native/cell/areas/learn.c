/* What the bits of an area's flags mean. Bits and words that occur in the same areas of ours belong together. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "areas.h"
#include "shared/owned.h"

#define PAGE_BYTES 4096UL
#define MOST_SAMPLES 64
#define BITS 64
/* Missing in older headers. */
#define WRITES_OF_MISSING (1ULL << 13)
#define WRITES_NOTED (1ULL << 15)

/* One area of ours. */
struct sample {
  uint64_t start, flags;
  char words[256]; /* with a space at both ends */
};

struct samples {
  struct sample all[MOST_SAMPLES];
  size_t count;
};

/* With a gap behind it, so that the kernel does not join two of them. */
static char *make_area(int protection, int flags) {
  char *area = mmap(NULL, 2 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return NULL;
  area = mmap(area, PAGE_BYTES, protection, MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0);
  return area == MAP_FAILED ? NULL : area;
}

static void make_advised(int advice) {
  char *area = make_area(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  if (area) madvise(area, PAGE_BYTES, advice);
}

/* As arm.c does it. The descriptor stays open as long as this process runs. */
static void make_tracked(void) {
  int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  char *area = make_area(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  struct uffdio_api api = {.api = UFFD_API, .features = WRITES_OF_MISSING | WRITES_NOTED};
  struct uffdio_register range = {.range = {(uint64_t)area, PAGE_BYTES}, .mode = UFFDIO_REGISTER_MODE_WP};
  if (faults >= 0 && area && !ioctl(faults, UFFDIO_API, &api)) ioctl(faults, UFFDIO_REGISTER, &range);
}

/* A file that can only be read, mapped to be shared. */
static void make_of_file(void) {
  autoclose int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file >= 0) mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
}

/* Whatever cannot be made is not learned. */
static void make_areas(void) {
  static const int advices[] = {MADV_DONTFORK,   MADV_DONTDUMP,  MADV_SEQUENTIAL, MADV_RANDOM,
                                MADV_WIPEONFORK, MADV_MERGEABLE, MADV_HUGEPAGE,   MADV_NOHUGEPAGE};
  static const int protections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC,
                                    PROT_READ | PROT_WRITE | PROT_EXEC};
  for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) make_advised(advices[i]);
  for (size_t i = 0; i < sizeof protections / sizeof *protections; i++) make_area(protections[i], MAP_PRIVATE);
  make_area(PROT_READ, MAP_SHARED);
  make_area(PROT_READ | PROT_WRITE, MAP_SHARED);
  make_area(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
  make_area(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_GROWSDOWN);
  char *locked = make_area(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  if (locked) mlock(locked, PAGE_BYTES);
  make_of_file();
  make_tracked();
}

static struct sample *sample_at(struct samples *samples, uint64_t start) {
  for (size_t i = 0; i < samples->count; i++)
    if (samples->all[i].start == start) return &samples->all[i];
  return NULL;
}

/* Only areas whose flags and words are both known. */
static bool read_samples(int lister, struct samples *samples) {
  struct areas areas;
  autofree char *line = NULL;
  size_t room = 0;
  unsigned long start = 0, first, last;
  if (!list_areas(lister, (pid_t)syscall(SYS_gettid), &areas)) return false;
  for (size_t i = 0; i < areas.count && samples->count < MOST_SAMPLES; i++)
    samples->all[samples->count++] = (struct sample){.start = areas.all[i].start, .flags = areas.all[i].flags};
  free(areas.all);
  FILE *smaps = fopen("/proc/self/smaps", "re");
  while (smaps && getline(&line, &room, smaps) > 0) {
    if (sscanf(line, "%lx-%lx ", &first, &last) == 2) start = first;
    struct sample *sample = strncmp(line, "VmFlags:", 8) ? NULL : sample_at(samples, start);
    if (sample) snprintf(sample->words, sizeof sample->words, " %.*s ", (int)strcspn(line + 9, "\n"), line + 9);
  }
  if (smaps) fclose(smaps);
  size_t kept = 0;
  for (size_t i = 0; i < samples->count; i++)
    if (*samples->all[i].words) samples->all[kept++] = samples->all[i];
  samples->count = kept;
  return kept > 0;
}

/* In which samples a bit is set: a bit for each of them. */
static uint64_t samples_with_bit(const struct samples *samples, int bit) {
  uint64_t with = 0;
  for (size_t i = 0; i < samples->count; i++) with |= (samples->all[i].flags >> bit & 1) << i;
  return with;
}

static uint64_t samples_with_word(const struct samples *samples, const char *word) {
  char spaced[8];
  uint64_t with = 0;
  snprintf(spaced, sizeof spaced, " %.2s ", word);
  for (size_t i = 0; i < samples->count; i++) with |= (uint64_t) !!strstr(samples->all[i].words, spaced) << i;
  return with;
}

/* All words that occur in exactly these samples, which have at least one. */
static void add_words(const struct samples *samples, uint64_t with, char *text) {
  const char *words = samples->all[__builtin_ctzll(with)].words;
  for (const char *at = words + 1; at[0] && at[1] && at[2] == ' '; at += 3)
    if (samples_with_word(samples, at) == with) strncat(text, at, 3);
}

bool learn_words(int lister, struct vocabulary *vocabulary) {
  static struct samples samples;
  *vocabulary = (struct vocabulary){0};
  make_areas();
  if (!read_samples(lister, &samples)) return false;
  for (int bit = 0; bit < BITS; bit++) {
    uint64_t with = samples_with_bit(&samples, bit), group = 0;
    if (!with || vocabulary->known >> bit & 1) continue;
    for (int other = bit; other < BITS; other++)
      if (samples_with_bit(&samples, other) == with) group |= 1ULL << other;
    vocabulary->known |= group;
    vocabulary->groups[vocabulary->count].bits = group;
    add_words(&samples, with, vocabulary->groups[vocabulary->count++].text);
  }
  return true;
}

bool put_words(const struct vocabulary *vocabulary, uint64_t flags, char *text, size_t room) {
  *text = 0;
  if (flags & ~vocabulary->known) return false;
  for (size_t i = 0; i < vocabulary->count; i++) {
    uint64_t set = flags & vocabulary->groups[i].bits;
    if (!set) continue;
    if (set != vocabulary->groups[i].bits) return false;
    if (strlen(text) + strlen(vocabulary->groups[i].text) + 1 > room) return false;
    strcat(text, vocabulary->groups[i].text);
  }
  return true;
}
