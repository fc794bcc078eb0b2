/* undisturbed list          names of all programs
 * undisturbed launch FILE   runs the command lines in FILE side by side (launch.c)
 * undisturbed slowly        a slow pipe (slowly.c)
 * undisturbed NAME          runs one program: it prints "ready", and when standard input ends "ok", or lines
 *                           that begin with "noticed: " */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int launch(const char *list);
int slowly(const char *descriptor, const char *rate);

static const struct program *const families[] = {
    identity_programs,     held_file_programs,  lock_programs,   watch_programs,     timed_wait_programs,
    endless_wait_programs, whole_call_programs, timer_programs,  event_programs,     unix_programs,
    tcp_programs,          tcp_state_programs,  udp_programs,    attribute_programs, credential_programs,
    child_programs,        own_view_programs,   memory_programs, cpu_programs,       ipc_programs,
    terminal_programs,     signal_programs,     in_flight_programs, protection_programs,
};

#define EACH_PROGRAM(one)                                                        \
  for (size_t family = 0; family < sizeof families / sizeof *families; family++) \
    for (const struct program *one = families[family]; one->name; one++)

/* Where it speaks, whatever it does to its standard output. */
static int voice = 1;
static volatile int noticed;

static void say(const char *text) {
  if (write(voice, text, strlen(text)) < 0) _exit(3);
}

void ready(void) { say("ready\n"); }

void until_over(void) {
  char byte;
  while (read(0, &byte, 1) < 0 && errno == EINTR) continue;
}

bool is_over(void) {
  struct pollfd in = {.fd = 0, .events = POLLIN};
  return poll(&in, 1, 0) > 0;
}

void hold(void) {
  ready();
  until_over();
}

void notice(const char *format, ...) {
  char text[600] = "noticed: ";
  va_list list;
  va_start(list, format);
  vsnprintf(text + strlen(text), sizeof text - 20, format, list);
  va_end(list);
  for (char *end; (end = strchr(text, '\n'));) *end = ' ';
  strcat(text, "\n");
  /* Enough to understand it; a loop may see the same thing a thousand times. */
  if (noticed++ < 40) say(text);
}

bool has_noticed(void) { return noticed > 0; }

void cannot(const char *file, int line, const char *what) {
  char text[300];
  snprintf(text, sizeof text, "cannot: %s:%d: %s: %s\n", file, line, what, strerror(errno));
  say(text);
  _exit(2);
}

void same(const char *what, long before, long after) {
  if (before != after) notice("%s was %ld (0x%lx), is %ld (0x%lx)", what, before, before, after, after);
}

void same_text(const char *what, const char *before, const char *after) {
  if (strcmp(before, after) == 0) return;
  size_t at = 0;
  while (before[at] && before[at] == after[at]) at++;
  at = at > 30 ? at - 30 : 0;
  notice("%s was …%.150s…, is …%.150s…", what, before + at, after + at);
}

void same_lines(const char *what, char *before, char *after) {
  for (char *was, *is; (was = strsep(&before, "\n")) && (is = strsep(&after, "\n"));)
    if (strcmp(was, is) != 0) notice("%s: \"%.250s\" is \"%.250s\"", what, was, is);
  same("number of its lines", !before, !after);
}

bool is_copy(void) { return access("../copied", F_OK) == 0; }

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double stood_still(void) {
  static int fd = -1;
  char text[32] = "";
  if (fd < 0) fd = fcntl(MUST(open("../stops", O_RDONLY)), F_DUPFD_CLOEXEC, 101);
  MUST(pread(fd, text, sizeof text - 1, 0));
  return atof(text) / 1000;
}

double late_by(double late, double stops) {
  /* The watch and we were thawed at once: it may not have written yet. */
  if (late - (stood_still() - stops) > 0.5) rest(0.5);
  return late - (stood_still() - stops);
}

void rest(double seconds) {
  double end = now() + seconds;
  struct timespec until = {.tv_sec = (time_t)end, .tv_nsec = (long)((end - (double)(time_t)end) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

char *slurp(const char *path) {
  size_t size = 0, room = 1 << 16;
  char *text = malloc(room);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  for (ssize_t got; fd >= 0 && (got = read(fd, text + size, room - size - 1)) > 0; size += (size_t)got)
    if (room - size - (size_t)got < 4096) text = realloc(text, room *= 2);
  if (fd >= 0) close(fd);
  text[size] = 0;
  return text;
}

char *line_of(const char *text, const char *key) {
  for (const char *line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, strlen(key)) == 0) return strndup(line, strcspn(line, "\n"));
  }
  return strdup("");
}

char *without_tracking(char *text) {
  for (char *flag; (flag = strstr(text, " uw "));) memmove(flag, flag + 3, strlen(flag + 3) + 1);
  return text;
}

void write_file(const char *path, const char *text) {
  int fd = MUST(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  MUST(write(fd, text, strlen(text)));
  close(fd);
}

pid_t start(int (*work)(void)) {
  pid_t pid = MUST(fork());
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  _exit(work());
}

int end_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "launch") == 0 && argc > 2) return launch(argv[2]);
  if (strcmp(name, "slowly") == 0 && argc > 3) return slowly(argv[2], argv[3]);
  voice = fcntl(1, F_DUPFD_CLOEXEC, 100);
  if (access("../stops", R_OK) == 0) stood_still();
  EACH_PROGRAM(one) {
    if (strcmp(name, "list") == 0) puts(one->name);
    if (strcmp(name, one->name) != 0) continue;
    one->run();
    if (!noticed) say("ok\n");
    return 0;
  }
  return strcmp(name, "list") == 0 ? 0 : 2;
}
