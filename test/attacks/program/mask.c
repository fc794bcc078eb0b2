/* Reading a file that the mask hides, by other names. */
#define _GNU_SOURCE
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct finding judge_content(const char *path) {
  char text[64];
  if (read_text(path, text, sizeof text) < 0) return refused("%s: %s", path, strerrorname_np(errno));
  return strstr(text, "secret") ? succeeded("read it at %s", path) : refused("%s holds nothing", path);
}

static struct finding read_it(const void *prefix) {
  char path[512];
  snprintf(path, sizeof path, "%s%s/file", (const char *)prefix, given("ATTACK_MASKED"));
  return judge_content(path);
}

static struct finding list_it(const void *with) {
  DIR *directory = opendir(given("ATTACK_MASKED"));
  if (!directory) return refused("opendir: %s", strerrorname_np(errno));
  for (struct dirent *entry; (entry = readdir(directory));)
    if (!strcmp(entry->d_name, "file")) return succeeded("it is listed");
  return refused("not listed");
}

/* Whatever hides it must not be removable. */
static struct finding uncover_it(const void *with) {
  const char *masked = given("ATTACK_MASKED");
  char path[512];
  snprintf(path, sizeof path, "%s/file", masked);
  mkdir(masked, 0777);
  if (!in_weak_place()) {
    close(creat(path, 0666));
    unlink(path);
    rmdir(masked);
  }
  struct finding finding = judge_content(path);
  if (finding.outcome == SUCCEEDED) return finding;
  mkdir(masked, 0777);
  finding = judge_content(path);
  rmdir(masked);
  return finding;
}

static struct finding link_it(const void *with) {
  char path[512];
  snprintf(path, sizeof path, "%s/file", given("ATTACK_MASKED"));
  if (link(path, canary("mask-by-link", "linked"))) return judge(-1, "link");
  return judge_content(canary("mask-by-link", "linked"));
}

/* Moving its directory, so that another name leads to it. */
static struct finding move_parent(const void *with) {
  char from[512], to[520], file[560];
  snprintf(from, sizeof from, "%s", given("ATTACK_MASK_PARENT"));
  snprintf(to, sizeof to, "%s.moved", from);
  if (rename(from, to)) return judge(-1, "rename of its parent");
  snprintf(file, sizeof file, "%s/masked/file", to);
  struct finding finding = judge_content(file);
  rename(to, from);
  return finding;
}

/* From every open file, root and working directory of every visible process. */
static struct finding search_processes(const void *with) {
  DIR *processes = opendir("/proc");
  if (!processes) return broken("/proc");
  for (struct dirent *entry; (entry = readdir(processes));) {
    if (!atoi(entry->d_name) || (in_weak_place() && atoi(entry->d_name) != getpid())) continue;
    const char *links[] = {"root", "cwd", "exe/../../../../../..", "fd/0", "fd/3", "fd/5", "fd/8"};
    for (size_t i = 0; i < COUNT(links); i++) {
      char path[1024];
      snprintf(path, sizeof path, "/proc/%s/%s%s/file", entry->d_name, links[i], given("ATTACK_MASKED"));
      if (judge_content(path).outcome == SUCCEEDED) return succeeded("read it at %.100s", path);
    }
  }
  return refused("no process leads to it");
}

static struct finding by_handle(const void *with) {
  struct {
    struct file_handle head;
    unsigned char bytes[128];
  } handle = {.head.handle_bytes = 128};
  int mount;
  if (name_to_handle_at(AT_FDCWD, given("ATTACK_MASK_PARENT"), &handle.head, &mount, 0)) return broken("name_to_handle_at");
  int root = open("/", O_RDONLY | O_DIRECTORY);
  int parent = open_by_handle_at(root, &handle.head, O_RDONLY);
  return judge(parent, "open_by_handle_at");
}

/* The home of Forkpoint: what `ls` of it, or of the path it was before links were followed, shows. */
static struct finding list_home(const void *variable) {
  DIR *directory = opendir(given(variable));
  if (!directory) return judge(-1, "opendir");
  size_t entries = 0;
  while (readdir(directory)) entries++;
  return entries > 2 ? succeeded("%zu entries", entries - 2) : refused("empty");
}

static struct finding read_path_list(const void *file) {
  char text[65536];
  if (read_text(file, text, sizeof text) <= 0) return broken("%s: %s", (const char *)file, strerrorname_np(errno));
  return strstr(text, given("ATTACK_HOME")) ? succeeded("%s names the home", (const char *)file) : refused("does not name it");
}

static const struct attack attacks[] = {
    {"mask-read", read_it, ""},
    {"mask-list", list_it},
    {"mask-by-proc-root", read_it, "/proc/self/root"},
    {"mask-by-init-root", read_it, "/proc/1/root"},
    {"mask-by-dots", read_it, "/proc/1/cwd/../../../../../../../../.."},
    {"mask-uncover", uncover_it},
    {"mask-by-link", link_it},
    {"mask-by-moved-parent", move_parent},
    {"mask-by-processes", search_processes},
    {"mask-by-handle", by_handle},
    {"home-list", list_home, "ATTACK_HOME"},
    {"other-home-list", list_home, "ATTACK_OTHER_HOME"},
    {"home-in-mountinfo", read_path_list, "/proc/self/mountinfo"},
};
SUBJECT(mask_attacks, attacks);
