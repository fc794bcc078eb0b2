/* What the first process of a cell does, from the moment its ids are mapped
 * until it becomes the agent. Nothing of the host may stay open: CRIU could not
 * find it again in the cell's own mounts. */
#define _GNU_SOURCE
#include "cell.h"

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

static void become_root_inside(void) {
  if (setresgid(0, 0, 0)) die("setresgid", "0");
  if (setgroups(0, NULL)) die("setgroups", "none");
  if (setresuid(0, 0, 0)) die("setresuid", "0");
}

static void mount_at(const char *type, const char *to, unsigned long flags, const char *options) {
  if (mount(type, to, type, flags, options)) die("mount", to);
}

static bool is_same_file(const char *one, const char *other) {
  struct stat first, second;
  return !stat(one, &first) && !stat(other, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static void bind_over(const char *from, const char *to) {
  if (is_same_file(from, to)) return;
  if (mount(from, to, NULL, MS_BIND, NULL) && errno != ENOENT) die("bind over", to);
}

static void bind_read_only(const char *path) {
  struct statvfs found;
  if (!statvfs(path, &found) && found.f_flag & ST_RDONLY) return;
  if (mount(path, path, NULL, MS_BIND, NULL)) {
    if (errno == ENOENT) return;
    die("bind", path);
  }
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount("none", path, NULL, flags, NULL)) die("remount read-only", path);
}

/* The user namespace already refuses most of these; masking them hides what the
 * host's kernel would still tell, and makes /proc/sys read-only as a whole. Volumes of
 * other homes are block devices and file systems: what lists those tells of neighbours.
 * CRIU makes each of these mounts again, so there is one for a whole directory. */
void mask_kernel_interfaces(void) {
  const char *read_only[] = {"proc/sys", "proc/bus", "proc/sysrq-trigger", "proc/pressure"};
  const char *hidden_files[] = {"proc/kcore",      "proc/keys",      "proc/timer_list", "proc/sched_debug",
                                "proc/partitions", "proc/diskstats", "proc/swaps",      "proc/interrupts"};
  const char *hidden_directories[] = {"proc/acpi",    "proc/scsi", "proc/irq",                 "proc/fs",
                                      "sys/firmware", "sys/fs",    "sys/devices/virtual/block"};
  for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++) bind_read_only(read_only[i]);
  for (size_t i = 0; i < sizeof hidden_files / sizeof *hidden_files; i++)
    bind_over("dev/null", hidden_files[i]);
  for (size_t i = 0; i < sizeof hidden_directories / sizeof *hidden_directories; i++)
    bind_over("dev/.empty", hidden_directories[i]);
}

static void mount_kernel_file_systems(void) {
  const unsigned long safe = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  mount_at("proc", "proc", safe, NULL);
  mount_at("sysfs", "sys", safe | MS_RDONLY, NULL);
  mount_at("devpts", "dev/pts", DEVPTS_FLAGS, "newinstance," DEVPTS_OPTIONS);
}

/* Layers from before there were pages have no place for them, and nothing that would need one. */
static void bind_pages(void) {
  if (mount("stage/pages", "stage/root/" PAGES_DIR, NULL, MS_BIND, NULL) && errno != ENOENT)
    die("bind", PAGES_DIR);
}

static void take_root(const struct spec *spec) {
  /* Mounts inherited from the host's user namespace are locked in place and
   * cannot be pivoted to; a bind copy can. */
  if (mount("stage/root", "stage/root", NULL, MS_BIND, NULL)) die("bind", "stage/root");
  if (mount("stage/dev", "stage/root/dev", NULL, MS_BIND, NULL)) die("bind", "/dev");
  if (mount("stage/run", "stage/root/" ENV_SOCKET_DIR, NULL, MS_BIND, NULL)) die("bind", ENV_SOCKET_DIR);
  if (spec->pages) bind_pages();
  if (chdir("stage/root")) die("chdir", "stage/root");
  mount_kernel_file_systems();
  mask_kernel_interfaces();
  if (syscall(SYS_pivot_root, ".", ".")) die("pivot_root", "stage/root");
  if (umount2(".", MNT_DETACH)) die("detach the host's mounts from", "/");
  if (chdir("/")) die("chdir", "/");
}

/* The error pipe is close-on-exec and moved to `fd`; everything else is closed. */
static void keep_only(int fd) {
  if (syscall(SYS_close_range, fd + 1, ~0U, 0)) die("close_range", "inherited descriptors");
  int null = open("/dev/null", O_RDWR);
  if (null < 0) die("open", "/dev/null");
  for (int i = 0; i < 3; i++)
    if (dup2(null, i) < 0) die("dup2", "/dev/null");
  if (null > 2) close(null);
}

void become_agent(const struct spec *spec) {
  int report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (report < 0) die("fcntl", "error pipe");
  if (report != 3 && dup3(report, 3, O_CLOEXEC) < 0) die("dup3", "error pipe");
  report_errors_to(3);

  become_root_inside();
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user clears it; until the agent runs, a killed helper leaves nothing */
  if (unshare(CLONE_NEWNS | CLONE_NEWCGROUP)) die("unshare", "mount and cgroup namespaces");
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) die("make mounts private under", "/");
  bring_loopback_up();
  if (spec->veth) configure_inside(spec);
  take_root(spec);
  if (sethostname(spec->hostname, strlen(spec->hostname))) die("sethostname", spec->hostname);
  if (spec->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("prctl", "no_new_privs");
  keep_only(3);
  setsid();
  umask(022);
  install_syscall_filter();
  drop_capabilities();
  prctl(PR_SET_PDEATHSIG, 0); /* it would outlive execve */
  char *argv[] = {(char *)"forkpoint-agent", NULL};
  char *environment[] = {NULL};
  execve(AGENT_PATH, argv, environment);
  die("execve", AGENT_PATH);
}
