/* New namespaces, and ways into those of the host. */
#define _GNU_SOURCE
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT_MOUNT_NAMESPACE _IOR(0xb7, 11, char[16]) /* NS_MNT_GET_NEXT, since 6.12 */
#define PREVIOUS_MOUNT_NAMESPACE _IOR(0xb7, 12, char[16])

static struct finding unshare_it(const void *flag) { return judge_call(unshare((int)(long)flag), "unshare"); }

static struct finding clone_it(const void *flag) {
  long pid = syscall(SYS_clone, (long)flag | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  return judge_call(pid, "clone");
}

static struct finding clone3_it(const void *with) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) _exit(0);
  return judge_call(pid, "clone3");
}

static struct finding enter(const void *path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) return judge(-1, path);
  return judge_call(syscall(SYS_setns, fd, 0), "setns");
}

static struct finding enter_by_pidfd(const void *with) {
  int fd = (int)syscall(SYS_pidfd_open, 1, 0);
  if (fd < 0) return broken("pidfd_open");
  return judge_call(syscall(SYS_setns, fd, CLONE_NEWNS), "setns");
}

static struct finding neighbour_mounts(const void *request) {
  int fd = open("/proc/self/ns/mnt", O_RDONLY);
  char info[16] = {16};
  return judge(ioctl(fd, (unsigned long)request, info), "mount namespace of somebody else");
}

/* ATTACK_NS_MNT and so on are the host's, such as mnt:[4026531832]. */
static struct finding find_namespace(const void *kind) {
  char variable[32];
  snprintf(variable, sizeof variable, "ATTACK_NS_%s", (const char *)kind);
  const char *wanted = given(variable);
  DIR *processes = opendir("/proc");
  if (!processes) return broken("/proc");
  for (struct dirent *entry; (entry = readdir(processes));) {
    char path[300], found[64] = {0};
    snprintf(path, sizeof path, "/proc/%s/ns/%s", entry->d_name, (const char *)kind);
    if (atoi(entry->d_name) && readlink(path, found, sizeof found - 1) > 0 && !strcmp(found, wanted))
      return succeeded("process %.20s is in the host's %s", entry->d_name, wanted);
  }
  return refused("no process is in the host's");
}

/* Whoever may chroot can leave a chroot; above it there must be nothing but the environment. */
static struct finding leave_chroot(const void *with) {
  char home[512];
  snprintf(home, sizeof home, ".%s", given("ATTACK_HOME"));
  if (mkdir(scratch("jail"), 0777) && errno != EEXIST) return broken("mkdir");
  int here = open(in_weak_place() ? scratch("") : "/", O_RDONLY | O_DIRECTORY);
  if (chroot(scratch("jail"))) return judge(-1, "chroot");
  if (fchdir(here)) return broken("fchdir");
  for (int i = 0; i < 100; i++)
    if (chdir("..")) return broken("chdir");
  if (chroot(".")) return broken("chroot");
  DIR *directory = opendir(home);
  size_t entries = 0;
  while (directory && readdir(directory)) entries++;
  return entries > 2 ? succeeded("the home of Forkpoint can be seen") : refused("still inside");
}

#define FLAG(flag) (const void *)(long)(flag)

static const struct attack attacks[] = {
    {"unshare-user", unshare_it, FLAG(CLONE_NEWUSER)},
    {"unshare-mount", unshare_it, FLAG(CLONE_NEWNS)},
    {"unshare-network", unshare_it, FLAG(CLONE_NEWNET)},
    {"unshare-ipc", unshare_it, FLAG(CLONE_NEWIPC)},
    {"unshare-uts", unshare_it, FLAG(CLONE_NEWUTS)},
    {"unshare-pid", unshare_it, FLAG(CLONE_NEWPID)},
    {"unshare-cgroup", unshare_it, FLAG(CLONE_NEWCGROUP)},
    {"unshare-time", unshare_it, FLAG(CLONE_NEWTIME)},
    {"clone-user", clone_it, FLAG(CLONE_NEWUSER)},
    {"clone-user-mount", clone_it, FLAG(CLONE_NEWUSER | CLONE_NEWNS)},
    {"clone-mount", clone_it, FLAG(CLONE_NEWNS)},
    {"clone3-user", clone3_it},
    {"setns-self", enter, "/proc/self/ns/user"},
    {"setns-init", enter, "/proc/1/ns/mnt"},
    {"setns-pidfd", enter_by_pidfd},
    {"next-mount-namespace", neighbour_mounts, FLAG(NEXT_MOUNT_NAMESPACE), DONE(SYS_ioctl)},
    {"previous-mount-namespace", neighbour_mounts, FLAG(PREVIOUS_MOUNT_NAMESPACE), DONE(SYS_ioctl)},
    {"host-mount-namespace", find_namespace, "mnt"},
    {"host-pid-namespace", find_namespace, "pid"},
    {"host-network-namespace", find_namespace, "net"},
    {"host-ipc-namespace", find_namespace, "ipc"},
    {"host-uts-namespace", find_namespace, "uts"},
    {"host-user-namespace", find_namespace, "user"},
    {"host-cgroup-namespace", find_namespace, "cgroup"},
    {"chroot-escape", leave_chroot},
};
SUBJECT(namespace_attacks, attacks);
