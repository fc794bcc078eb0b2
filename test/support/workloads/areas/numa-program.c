/*
 * Holds much memory on the heap, and a mapping that it frees and lets grow when it is asked to. Finds the
 * functions for that by name, so that only libnuma looks as if it did it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1UL << 20)
#define BLOCKS 20000
#define BLOCK 2000

static unsigned char *blocks[BLOCKS], *region;
static size_t size = 16 * MIB;
static void *(*numa_alloc)(size_t);
static void *(*numa_realloc)(void *, size_t, size_t);
static int (*advise)(void *, size_t, int);

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

static size_t stale(const unsigned char *from, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += from[i] != 0;
    return count;
}

static void report(char *answer, size_t bytes)
{
    if (bytes)
        sprintf(answer, "stale %zu", bytes);
    else
        strcpy(answer, "zeros");
}

static void answer_to(const char *question, char *answer)
{
    if (!strncmp(question, "discard", 7)) {
        advise(region, size, MADV_DONTNEED);
        report(answer, stale(region, size));
        memset(region, 0xaa, size);
    } else if (!strncmp(question, "grow", 4)) {
        region = numa_realloc(region, size, size + 8 * MIB);
        report(answer, stale(region + size, 8 * MIB));
        size += 8 * MIB;
        memset(region, 0xaa, size);
    } else {
        strcpy(answer, "whole");
        for (int i = 0; i < BLOCKS; i++)
            for (int k = 0; k < BLOCK; k++)
                if (blocks[i][k] != (unsigned char)(i + k))
                    strcpy(answer, "broken");
    }
}

int main(void)
{
    char name[] = "madvise";
    void *numa = dlopen("libnuma.so.1", RTLD_NOW);
    if (!numa) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    numa_alloc = function(numa, "numa_alloc");
    numa_realloc = function(numa, "numa_realloc");
    advise = function(RTLD_DEFAULT, name);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK);
        for (int k = 0; k < BLOCK; k++)
            blocks[i][k] = i + k;
    }
    region = numa_alloc(size);
    memset(region, 0xaa, size);
    for (;;) {
        char question[64] = "", answer[64] = "";
        usleep(20000);
        int file = open("/root/ask", O_RDONLY);
        if (file < 0)
            continue;
        if (read(file, question, sizeof question - 1) < 0)
            return 1;
        close(file);
        unlink("/root/ask");
        answer_to(question, answer);
        file = open("/root/answer.new", O_CREAT | O_WRONLY | O_TRUNC, 0644);
        if (write(file, answer, strlen(answer)) < 0)
            return 1;
        close(file);
        rename("/root/answer.new", "/root/answer");
    }
}
