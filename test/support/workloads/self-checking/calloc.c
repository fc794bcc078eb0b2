/*
 * Constantly allocates, frees and checks, in two threads; argument: where to report.
 * The report holds "rounds N", or "stale ..." and then the program has ended.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 2000

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char value;
};

static void report(const char *path, const char *word, unsigned long number)
{
    char draft[4096];
    snprintf(draft, sizeof draft, "%s.new", path);
    FILE *file = fopen(draft, "w");
    if (!file || fprintf(file, "%s %lu\n", word, number) < 0 || fclose(file) || rename(draft, path))
        exit(2);
}

static size_t wrong(const unsigned char *bytes, size_t size, unsigned char value)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] != value;
    return count;
}

static size_t change(struct block *block, unsigned number)
{
    size_t size = 1 + rand() % (number % 4 == 0 ? 400000 : 3000), bad;
    if (!block->bytes || number % 2 == 0) {
        free(block->bytes);
        block->bytes = calloc(1, size);
        bad = wrong(block->bytes, size, 0);
    } else {
        size_t kept = size < block->size ? size : block->size;
        block->bytes = realloc(block->bytes, size);
        bad = wrong(block->bytes, kept, block->value);
    }
    block->size = size;
    block->value = number;
    memset(block->bytes, block->value, size);
    return bad;
}

static void *work(void *path)
{
    struct block *blocks = calloc(BLOCKS, sizeof *blocks);
    for (unsigned long round = 1;; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            size_t bad = change(&blocks[rand() % BLOCKS], rand());
            if (bad) {
                report(path, "stale", bad);
                _exit(1);
            }
        }
        if (round % 10 == 0)
            for (unsigned i = 0; i < BLOCKS; i++) {
                free(blocks[i].bytes);
                blocks[i] = (struct block){ 0 };
            }
        malloc_trim(0);
        report(path, "rounds", round);
        usleep(20000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char second[4096];
    if (argc != 2)
        return 2;
    snprintf(second, sizeof second, "%s.thread", argv[1]);
    if (pthread_create(&thread, NULL, work, argv[1]))
        return 2;
    work(second);
}
