/* The holder of a life's userfaultfds. It does what the tracker asks for, and ends with the agent of the life. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "holder.h"
#include "report.h"
#include "shared/owned.h"
#include "spec.h"

static struct tracked *held;
static size_t held_count;

static void forget(size_t index) {
  close(held[index].process);
  close(held[index].faults);
  held[index] = held[--held_count];
}

static void forget_outdated(void) {
  for (size_t i = held_count; i-- > 0;)
    if (!is_current(&held[i])) forget(i);
}

/* A process that cannot be held is dumped in full. */
static void hold(pid_t pid, int faults) {
  int process = faults < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
  if (process < 0) {
    if (faults >= 0) close(faults);
    return;
  }
  held = require_memory(realloc(held, (held_count + 1) * sizeof *held));
  held[held_count++] = (struct tracked){.pid = pid, .process = process, .faults = faults};
}

static bool answer_list(int client) {
  struct listed list[LISTED_AT_ONCE];
  forget_outdated();
  for (size_t at = 0, done = 0; !done;) {
    size_t count = 0;
    for (; at < held_count && count < LISTED_AT_ONCE; at++, count++) {
      list[count] = (struct listed){.pid = held[at].pid};
      memcpy(list[count].name, held[at].name, MOST_NAME);
    }
    done = count < LISTED_AT_ONCE;
    if (done) list[count++] = (struct listed){0};
    if (!send_packet(client, list, count * sizeof *list, -1)) return false;
  }
  return true;
}

/* Nothing is known since an earlier snapshot from here on. Since the new one only when NAME has come, which means that
 * all processes stood still until everything was armed. A process that fails loses its tracking, because an area of it
 * may be armed since another moment. */
static bool answer_arm(int client, const char *name, int notes) {
  struct armed armed = {0};
  for (size_t i = 0; i < held_count; i++)
    if (strncmp(held[i].name, name, MOST_NAME)) *held[i].name = 0;
  for (size_t i = held_count; i-- > 0;) {
    struct error error;
    if (!*held[i].name && arm(&held[i], notes, &error)) forget(i);
  }
  armed.processes = (uint32_t)held_count;
  return send_packet(client, &armed, sizeof armed, -1);
}

static void name_all(const char *name) {
  for (size_t i = 0; i < held_count; i++) memcpy(held[i].name, name, MOST_NAME);
}

static void serve(int client) {
  struct request request;
  int faults;
  while (receive_packet(client, &request, sizeof request, &faults) == (ssize_t)sizeof request) {
    bool answered = true;
    request.name[MOST_NAME - 1] = 0;
    switch (request.kind) {
      case HOLD: hold(request.pid, take_fd(&faults)); break;
      case LIST: answered = answer_list(client); break;
      case ARM: answered = answer_arm(client, request.name, faults); break;
      case NAME: name_all(request.name); break;
      case END: _exit(0);
    }
    if (faults >= 0) close(faults);
    if (!answered) return;
  }
}

static void allow_many_descriptors(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* WORDS are the directory of the life, which is only for people who look for it, and the numbers of two descriptors:
 * the socket, and the pidfd of the agent. */
void verb_hold(char **words) {
  int listening = atoi(words[1]), agent = atoi(words[2]);
  allow_many_descriptors();
  struct pollfd either[] = {{.fd = listening, .events = POLLIN}, {.fd = agent, .events = POLLIN}};
  for (;;) {
    if (poll(either, 2, -1) < 0 && errno != EINTR) die("poll for a tracker");
    if (either[1].revents) return;
    int client = either[0].revents ? accept4(listening, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (client < 0) continue;
    serve(client);
    close(client);
  }
}

__attribute__((noreturn)) static void become_holder(const char *directory, int listening, int agent) {
  char words[2][16], *argv[] = {"cell", "hold", (char *)directory, words[0], words[1], NULL};
  int null = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++)
    if (dup2(null, i) < 0) _exit(1);
  setsid();
  /* The directory of the life, and the volume that it is on, must not be kept busy. */
  if (chdir("/")) _exit(1);
  int numbers[] = {fcntl(listening, F_DUPFD, 1000), fcntl(agent, F_DUPFD, 1000)};
  syscall(SYS_close_range, 3, 999, 0);
  for (int i = 0; i < 2; i++) snprintf(words[i], sizeof words[i], "%d", numbers[i]);
  execv("/proc/self/exe", argv);
  _exit(1);
}

bool start_holder(const char *directory, pid_t agent) {
  autoclose int process = (int)syscall(SYS_pidfd_open, agent, 0);
  autoclose int listening = process < 0 ? -1 : listen_in(directory);
  pid_t pid = listening < 0 ? -1 : fork();
  if (pid == 0) become_holder(directory, listening, process);
  return pid > 0;
}
