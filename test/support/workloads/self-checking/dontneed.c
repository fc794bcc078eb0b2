/*
 * Counts on the kernel: what it frees with MADV_DONTNEED, and what it lets grow with mremap,
 * has to read as zeros, and everything else as it was left.
 *
 *   dontneed REPORT
 *
 * REPORT holds "rounds N", or "stale ..." and then the program has ended.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 12288
#define WORDS (PAGE / sizeof(uint64_t))

static uint64_t *memory;
static uint32_t generation[PAGES];

static void report(const char *path, const char *word, unsigned long number)
{
    char draft[4096];
    snprintf(draft, sizeof draft, "%s.new", path);
    FILE *file = fopen(draft, "w");
    if (!file || fprintf(file, "%s %lu\n", word, number) < 0 || fclose(file) || rename(draft, path))
        exit(2);
}

static uint64_t expected(long page, long word)
{
    return generation[page] ? (uint64_t)page << 40 ^ (uint64_t)generation[page] << 10 ^ word : 0;
}

static void fill(long page)
{
    generation[page]++;
    for (size_t i = 0; i < WORDS; i++)
        memory[page * WORDS + i] = expected(page, i);
}

/* The number of words that are not what they should be. */
static unsigned long wrong(long first, long count)
{
    unsigned long words = 0;
    for (long page = first; page < first + count; page++)
        for (size_t i = 0; i < WORDS; i++)
            words += memory[page * WORDS + i] != expected(page, i);
    return words;
}

/* A mapping that grows reads as zeros where it is new. */
static unsigned long grow(uint64_t **block, long *pages)
{
    long more = *pages < 2048 ? *pages * 2 : 64;
    uint64_t *moved = mremap(*block, *pages * PAGE, more * PAGE, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return 0; /* it may refuse a mapping that became several */
    unsigned long words = 0;
    for (long i = *pages * (long)WORDS; i < more * (long)WORDS; i++)
        words += moved[i] != 0;
    memset(moved, 0x5a, more * PAGE);
    *block = moved;
    *pages = more;
    return words;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long grown = 64;
    uint64_t *block =
        mmap(NULL, grown * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || block == MAP_FAILED)
        return 2;
    memset(block, 0x5a, grown * PAGE);
    for (long page = 0; page < PAGES; page++)
        fill(page);
    for (unsigned long round = 1;; round++) {
        long count = 1 + rand() % 256, first = rand() % (PAGES - count);
        if (madvise(memory + first * WORDS, count * PAGE, MADV_DONTNEED))
            return 2;
        for (long page = first; page < first + count; page++) {
            uint32_t last = generation[page];
            generation[page] = 0;
            unsigned long words = wrong(page, 1);
            if (words) {
                report(argv[1], "stale", words);
                return 1;
            }
            generation[page] = last;
            fill(page);
        }
        long other = rand() % (PAGES - 256);
        unsigned long words = wrong(other, 256) + grow(&block, &grown);
        if (words) {
            report(argv[1], "stale", words);
            return 1;
        }
        report(argv[1], "rounds", round);
        usleep(100000); /* many of these run at the same time */
    }
}
