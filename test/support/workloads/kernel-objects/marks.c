/* The user's words, in every kind of memory that could be shared between branches by mistake. */
#define _GNU_SOURCE
#include "object.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define SIZE 4096

static char *places[8];
static int count;

static char *mapped(int fd) {
  MUST(ftruncate(fd, SIZE));
  return MUST(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
}

void make_mark_places(void) {
  places[count++] = calloc(1, SIZE);
  places[count++] = MUST(
      mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  places[count++] = mapped(MUST(memfd_create("marks", 0)));
  places[count++] = mapped(MUST(shm_open("/marks", O_RDWR | O_CREAT, 0600)));
  places[count++] = mapped(MUST(open("marks", O_RDWR | O_CREAT, 0600)));
  places[count++] = mapped(MUST(open("unlinked-marks", O_RDWR | O_CREAT, 0600)));
  MUST(unlink("unlinked-marks"));
  places[count++] = MUST(shmat(MUST(shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600)), NULL, 0));
}

void mark(const char *word) {
  for (int i = 0; i < count; i++) {
    size_t length = strlen(places[i]);
    snprintf(places[i] + length, SIZE - length, "%s ", word);
  }
}

void print_marks(void) {
  for (int i = 1; i < count; i++)
    if (strcmp(places[i], places[0])) printf("place %d disagrees: ", i);
  puts(places[0]);
}
