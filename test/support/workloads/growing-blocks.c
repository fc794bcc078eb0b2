/* Large blocks that only grow: realloc() of each is an mremap(). Threads keep changing their own block
 * and check it all the time. Answers one line at a time: grow, check, fork, say WORD. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 4
#define START (4UL << 20)
#define MOST (64UL << 20)

struct block {
  pthread_mutex_t lock;
  uint64_t *words;
  size_t count;
  uint64_t round; /* what every word is made from, together with its place */
  const char *fault;
};

static struct block blocks[BLOCKS];

static uint64_t word_at(const struct block *block, size_t place, uint64_t round) {
  return (place + 1) * 0x9e3779b97f4a7c15ULL ^ round ^ (uint64_t)(block - blocks) << 56;
}

static void fill(struct block *block, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) block->words[i] = word_at(block, i, 0);
}

/* Every 4096th word is of this round, the others are as they were made. */
static uint64_t expected_at(const struct block *block, size_t place) {
  return word_at(block, place, place % 4096 == 0 ? block->round : 0);
}

static void check(struct block *block) {
  for (size_t i = 0; i < block->count; i++)
    if (block->words[i] != expected_at(block, i)) block->fault = "a word is not what it was";
}

static void stamp(struct block *block) {
  block->round++;
  for (size_t i = 0; i < block->count; i += 4096) block->words[i] = word_at(block, i, block->round);
}

static void *keep_changing(void *argument) {
  struct block *block = argument;
  for (;;) {
    pthread_mutex_lock(&block->lock);
    check(block);
    stamp(block);
    pthread_mutex_unlock(&block->lock);
    usleep(100000);
  }
  return NULL;
}

static void grow(struct block *block) {
  size_t wanted = block->count * 2;
  if (wanted * sizeof *block->words > MOST) return;
  uint64_t *words = realloc(block->words, wanted * sizeof *words);
  if (!words) {
    block->fault = "realloc failed";
    return;
  }
  block->words = words;
  check(block);
  fill(block, block->count, wanted);
  block->count = wanted;
  stamp(block);
}

static void each(void (*action)(struct block *)) {
  for (size_t i = 0; i < BLOCKS; i++) {
    pthread_mutex_lock(&blocks[i].lock);
    action(&blocks[i]);
    pthread_mutex_unlock(&blocks[i].lock);
  }
}

static const char *verdict(void) {
  each(check);
  for (size_t i = 0; i < BLOCKS; i++)
    if (blocks[i].fault) return blocks[i].fault;
  return "OK";
}

/* A child changes and grows all of it, which must not be visible here. */
static const char *fork_and_change(void) {
  for (size_t i = 0; i < BLOCKS; i++) pthread_mutex_lock(&blocks[i].lock);
  pid_t pid = fork();
  for (size_t i = 0; i < BLOCKS; i++) pthread_mutex_unlock(&blocks[i].lock);
  if (pid == 0) {
    each(check);
    each(stamp);
    each(grow);
    _exit(!strcmp(verdict(), "OK") ? 0 : 1);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) return "child failed";
  return verdict();
}

int main(void) {
  for (size_t i = 0; i < BLOCKS; i++) {
    struct block *block = &blocks[i];
    pthread_mutex_init(&block->lock, NULL);
    block->count = START / sizeof *block->words;
    block->words = malloc(START);
    fill(block, 0, block->count);
    stamp(block);
    pthread_t thread;
    pthread_create(&thread, NULL, keep_changing, block);
  }
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    const char *answer = verdict();
    if (!strcmp(line, "grow")) each(grow), answer = verdict();
    if (!strcmp(line, "fork")) answer = fork_and_change();
    if (!strncmp(line, "say ", 4)) answer = line + 4;
    printf("%s\n", answer);
    fflush(stdout);
  }
}
