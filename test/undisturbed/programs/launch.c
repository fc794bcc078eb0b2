/* Runs many programs side by side, each in a directory and a session of its own, under the same parent.
 * The list has a line per program: its name, a tab, a command line for sh. What a program says goes to
 * NAME/said, how it ended to NAME/ended. Standard input of all of them is the FIFO `hold`; it ends when
 * the snapshots are over. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 600

static struct {
  char name[64];
  pid_t pid;
} running[MOST];

static void become(const char *name, const char *command) {
  MUST(chdir(name));
  int hold = MUST(open("../hold", O_RDONLY)), said = MUST(open("said", O_WRONLY | O_CREAT | O_APPEND, 0644));
  MUST(dup2(hold, 0));
  MUST(dup2(said, 1));
  MUST(dup2(said, 2));
  closefrom(3);
  MUST(setsid());
  execl("/bin/sh", "sh", "-c", command, NULL);
  cannot(__FILE__, __LINE__, "sh");
}

static int start_all(const char *list) {
  char *text = slurp(list), *rest = text;
  int count = 0;
  for (char *line; (line = strsep(&rest, "\n")) && count < MOST;) {
    char *command = strchr(line, '\t');
    if (!command) continue;
    *command++ = 0;
    snprintf(running[count].name, sizeof running[count].name, "%s", line);
    MUST(mkdir(line, 0755));
    running[count].pid = MUST(fork());
    if (running[count++].pid == 0) become(line, command);
  }
  free(text);
  return count;
}

static void write_stops(int fd, double total) {
  char text[32];
  int length = snprintf(text, sizeof text, "%020.0f\n", total * 1000);
  MUST(pwrite(fd, text, (size_t)length, 0));
}

/* Ticks every 10 ms, and adds up what ticks come late: time in which nothing here ran, in milliseconds. */
static void watch_time(void) {
  int fd = MUST(open("stops", O_RDWR | O_CREAT | O_TRUNC, 0644));
  double total = 0, last = now();
  write_stops(fd, total);
  if (MUST(fork()) > 0) return;
  for (;; last = now()) {
    rest(0.01);
    if (now() - last < 0.03) continue;
    write_stops(fd, total += now() - last);
  }
}

int launch(const char *list) {
  watch_time();
  int left = start_all(list), count = left, status;
  while (left > 0) {
    pid_t pid = wait(&status);
    for (int i = 0; i < count; i++) {
      if (running[i].pid != pid) continue;
      char path[100], words[50];
      snprintf(path, sizeof path, "%s/ended", running[i].name);
      snprintf(words, sizeof words, WIFEXITED(status) ? "status %d" : "signal %d",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
      write_file(path, words);
      left--;
    }
  }
  return 0;
}
