/* What the first process of a cell does from the moment its ids are mapped until it becomes the agent.
 * Nothing of the host may stay open: CRIU would not find it in the cell's own mounts. */
#define _GNU_SOURCE
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "network.h"
#include "report.h"
#include "stage.h"
#include "walls.h"

#define AGENT_PATH "/.forkpoint/agent"
#define REPORT 3 /* the only descriptor besides standard ones that stays open until the agent runs */

static void become_root_inside(void) {
  if (setresgid(0, 0, 0)) die("setresgid 0");
  if (setgroups(0, NULL)) die("setgroups to none");
  if (setresuid(0, 0, 0)) die("setresuid 0");
}

static void mount_at(const char *type, const char *to, unsigned long flags, const char *options) {
  if (mount(type, to, type, flags, options)) die("mount %s on '%s'", type, to);
}

static void bind_mount(const char *from, const char *to) {
  if (mount(from, to, NULL, MS_BIND, NULL)) die("bind '%s' on '%s'", from, to);
}

/* Not every kernel has every place. */
static void bind_if_there(const char *from, const char *to) {
  if (mount(from, to, NULL, MS_BIND, NULL) && errno != ENOENT) die("bind '%s' on '%s'", from, to);
}

static bool is_same_file(const char *one, const char *other) {
  struct stat first, second;
  return !stat(one, &first) && !stat(other, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static void bind_over(const char *from, const char *to) {
  if (!is_same_file(from, to)) bind_if_there(from, to);
}

static void bind_read_only(const char *path) {
  struct statvfs found;
  if (!statvfs(path, &found) && found.f_flag & ST_RDONLY) return;
  if (mount(path, path, NULL, MS_BIND, NULL)) {
    if (errno == ENOENT) return;
    die("bind '%s'", path);
  }
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount("none", path, NULL, flags, NULL)) die("remount '%s' read-only", path);
}

/* The user namespace already refuses most of these. The masks also hide what the kernel would show of the host,
 * such as the block devices and file systems of other homes, and make all of /proc/sys read-only. CRIU restores
 * each of these mounts, so a whole directory gets one. */
void mask_kernel_interfaces(void) {
  const char *read_only[] = {"proc/sys", "proc/bus", "proc/sysrq-trigger", "proc/pressure"};
  const char *hidden_files[] = {"proc/kcore",      "proc/keys",      "proc/timer_list", "proc/sched_debug",
                                "proc/partitions", "proc/diskstats", "proc/swaps",      "proc/interrupts"};
  const char *hidden_directories[] = {
      "proc/acpi", "proc/scsi", "proc/irq", "proc/fs", "sys/firmware", "sys/fs", "sys/devices/virtual/block"};
  for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++) bind_read_only(read_only[i]);
  for (size_t i = 0; i < sizeof hidden_files / sizeof *hidden_files; i++) bind_over("dev/null", hidden_files[i]);
  for (size_t i = 0; i < sizeof hidden_directories / sizeof *hidden_directories; i++)
    bind_over("dev/.empty", hidden_directories[i]);
}

static void mount_kernel_file_systems(void) {
  const unsigned long safe = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  mount_at("proc", "proc", safe, NULL);
  mount_at("sysfs", "sys", safe | MS_RDONLY, NULL);
  mount_at("devpts", "dev/pts", DEVPTS_FLAGS, "newinstance," DEVPTS_OPTIONS);
}

static void take_root(const struct spec *spec) {
  /* Mounts inherited from the host's user namespace are locked and cannot be pivoted to; a bind copy can. */
  bind_mount("stage/root", "stage/root");
  bind_mount("stage/dev", "stage/root/dev");
  bind_mount("stage/run", "stage/root/" ENV_SOCKET_DIR);
  /* The layers of older versions lack this directory; nothing in them needs it. */
  if (spec->pages) bind_if_there("stage/pages", "stage/root/" PAGES_DIR);
  if (chdir("stage/root")) die("chdir 'stage/root'");
  mount_kernel_file_systems();
  mask_kernel_interfaces();
  if (syscall(SYS_pivot_root, ".", ".")) die("pivot_root 'stage/root'");
  if (umount2(".", MNT_DETACH)) die("umount the host's root");
  if (chdir("/")) die("chdir '/'");
}

static void close_all_but_report(void) {
  if (syscall(SYS_close_range, REPORT + 1, ~0U, 0)) die("close_range from %d", REPORT + 1);
  int null = open("/dev/null", O_RDWR);
  if (null < 0) die("open '/dev/null'");
  for (int i = 0; i < REPORT; i++)
    if (dup2(null, i) < 0) die("dup2 of '/dev/null' to %d", i);
  if (null >= REPORT) close(null);
}

/* The report pipe, which was stdout until now, ends when the agent is executed. */
static void keep_report_open(void) {
  int report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, REPORT);
  if (report < 0) die("fcntl F_DUPFD_CLOEXEC of the report pipe");
  if (report != REPORT && dup3(report, REPORT, O_CLOEXEC) < 0) die("dup3 of the report pipe");
  report_errors_to(REPORT);
}

void become_agent(const struct spec *spec) {
  keep_report_open();
  become_root_inside();
  /* Changing the user cleared it. Until the agent runs, a helper that is killed must leave no process behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (unshare(CLONE_NEWNS | CLONE_NEWCGROUP)) die("unshare mount and cgroup namespaces");
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) die("mount '/' as private");
  bring_loopback_up();
  if (spec->veth) configure_inside(spec);
  take_root(spec);
  if (sethostname(spec->hostname, strlen(spec->hostname))) die("sethostname '%s'", spec->hostname);
  if (spec->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("prctl PR_SET_NO_NEW_PRIVS");
  close_all_but_report();
  setsid();
  umask(022);
  install_syscall_filter();
  drop_capabilities();
  prctl(PR_SET_PDEATHSIG, 0); /* execve would keep it */
  char *argv[] = {(char *)"forkpoint-agent", NULL};
  char *environment[] = {NULL};
  execve(AGENT_PATH, argv, environment);
  die("execve '%s'", AGENT_PATH);
}
