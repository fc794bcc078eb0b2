/* Runs attacks one after another, each in a separate process, and prints the results. */
#define _GNU_SOURCE
#include "attack.h"
#include "modes.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_LIMIT_MS 10000
#define MOST_HELD 64

static const struct subject *const subjects[] = {
    &canary_attacks,      &mask_attacks,    &device_attacks,  &mount_attacks, &namespace_attacks,
    &capability_attacks,  &call_attacks,    &process_attacks, &ipc_attacks,   &network_attacks,
    &kernel_file_attacks, &limit_attacks,   &flood_attacks,   &nat_attacks,
};

static const char *const outcomes[] = {"refused", "succeeded", "tried", "broken"};

static pid_t held[MOST_HELD];
static size_t held_count;

int list_attacks(void) {
  for (size_t g = 0; g < COUNT(subjects); g++)
    for (size_t i = 0; i < subjects[g]->count; i++) puts(subjects[g]->attacks[i].name);
  return 0;
}

static char scratch_base[600] = "/tmp/attacks.XXXXXX";

static void make_scratch_base(void) {
  if (in_weak_place()) snprintf(scratch_base, sizeof scratch_base, "%s/XXXXXX", given("ATTACK_CANARY"));
  if (!mkdtemp(scratch_base) || chmod(scratch_base, 0777)) exit(3);
}

/* Its own directory, so that what one attack leaves behind does not spoil the next one. */
static void enter_scratch(const char *name) {
  char path[700];
  snprintf(path, sizeof path, "%s/%s", scratch_base, name);
  if (mkdir(path, 0777) || chmod(path, 0777) || chdir(path)) exit(3);
  setenv("ATTACK_SCRATCH", path, 1);
}

static void try_in_child(const struct attack *attack, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (in_weak_place()) weaken(attack->pretended);
  enter_scratch(attack->name);
  struct finding finding = attack->run(attack->with);
  if (write(report, &finding, sizeof finding) != sizeof finding) exit(3);
  if (finding.holds) pause();
  exit(0);
}

static struct finding hear(int report, pid_t pid) {
  struct pollfd answer = {.fd = report, .events = POLLIN};
  struct finding finding;
  if (poll(&answer, 1, TIME_LIMIT_MS) == 1 && read(report, &finding, sizeof finding) == sizeof finding) {
    if (finding.holds && held_count < MOST_HELD) {
      held[held_count++] = pid;
      return finding;
    }
  } else {
    finding = broken("no answer from the attack");
    kill(pid, SIGKILL);
  }
  waitpid(pid, NULL, 0);
  return finding;
}

static void try(const struct attack *attack) {
  int report[2];
  if (pipe(report)) exit(3);
  pid_t pid = fork();
  if (pid < 0) exit(3);
  if (pid == 0) {
    close(report[0]);
    try_in_child(attack, report[1]);
  }
  close(report[1]);
  struct finding finding = hear(report[0], pid);
  close(report[0]);
  printf("%s\t%s\t%s\n", attack->name, outcomes[finding.outcome], finding.detail);
}

/* Those of `nat` need addresses that only some environments have; they run when they are named. */
static bool is_wanted(const struct subject *subject, const char *name, char **names) {
  if (!*names) return subject != &nat_attacks;
  for (; *names; names++)
    if (!strcmp(*names, name)) return true;
  return false;
}

int run_attacks(char **names) {
  make_scratch_base();
  for (size_t g = 0; g < COUNT(subjects); g++)
    for (size_t i = 0; i < subjects[g]->count; i++)
      if (is_wanted(subjects[g], subjects[g]->attacks[i].name, names)) try(&subjects[g]->attacks[i]);
  puts("done");
  char byte;
  if (!in_weak_place())
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  return 0;
}
