/* Programs that start other programs with vfork, and one that notices how long it was held.
 *
 *   vforks wait SECONDS   the child sleeps before it executes a program; 0: forever
 *   vforks loop           starts `true` again and again, and prints how often in between
 *   vforks watch FILE     keeps the longest time between two moments, in milliseconds, in FILE
 *   vforks waits COUNT    so many processes wait for an event that never comes; prints what ended a wait */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int wait_before_exec(unsigned seconds) {
  pid_t child = vfork();
  if (child < 0) return 1;
  if (child == 0) {
    struct timespec left = {seconds ? seconds : 1000000, 0};
    while (nanosleep(&left, &left))
      ;
    execlp("sleep", "sleep", "1000", NULL);
    _exit(1);
  }
  printf("started\n");
  fflush(stdout);
  return waitpid(child, NULL, 0) != child;
}

static int loop(void) {
  for (unsigned long count = 1;; count++) {
    pid_t child = vfork();
    if (child < 0) return 1;
    if (child == 0) {
      execl("/bin/true", "true", NULL);
      _exit(1);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status) return 2;
    if (count % 50 == 0) {
      printf("%lu\n", count);
      fflush(stdout);
    }
  }
}

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int watch(const char *path) {
  long longest = 0, last = now_ms();
  for (;;) {
    usleep(1000);
    long now = now_ms();
    if (now - last > longest) {
      longest = now - last;
      FILE *file = fopen(path, "w");
      if (!file) return 1;
      fprintf(file, "%ld\n", longest);
      fclose(file);
    }
    last = now;
  }
}

static int waits(int count) {
  struct epoll_event event;
  int events = epoll_create1(0);
  while (--count > 0 && fork() > 0) continue;
  epoll_wait(events, &event, 1, -1);
  printf("%s\n", strerror(errno));
  return 1;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "wait")) return wait_before_exec((unsigned)atoi(argv[2]));
  if (argc == 2 && !strcmp(argv[1], "loop")) return loop();
  if (argc == 3 && !strcmp(argv[1], "watch")) return watch(argv[2]);
  if (argc == 3 && !strcmp(argv[1], "waits")) return waits(atoi(argv[2]));
  return 64;
}
