/* Processes that hold files whose names lead out of the environment for whoever resolves them elsewhere.
 * Each opens something in BASE/nb, removes its name, and makes BASE/nb a symlink to a directory of the
 * host, ATTACK_POSE_TARGET. It prints "posed" when a snapshot may be taken. */
#define _GNU_SOURCE
#include "attack.h"
#include "modes.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void need(bool done, const char *what) {
  if (done) return;
  perror(what);
  exit(3);
}

static void make_directory(const char *path) { need(!mkdir(path, 0777), path); }

static int open_new(const char *path, mode_t mode) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  need(fd >= 0 && write(fd, "from inside", 11) == 11 && !fchmod(fd, mode), path);
  return fd;
}

static void link_out(const char *name) { need(!symlink(given("ATTACK_POSE_TARGET"), name), "symlink"); }

/* The directory stays, under another name, with what is still in it. */
static void move_and_link_out(const char *name) {
  need(!rename(name, "aside"), "rename");
  link_out(name);
}

static void remove_and_link_out(const char *name) {
  need(!rmdir(name), "rmdir");
  link_out(name);
}

static void ghost_of_directory(const char *name) {
  make_directory(name);
  need(open(name, O_RDONLY | O_DIRECTORY) >= 0, "open");
  need(!rmdir(name), "rmdir");
  remove_and_link_out("nb");
}

static void ghost_directory(void) { ghost_of_directory("nb/fresh"); }
static void ghost_directory_over_directory(void) { ghost_of_directory("nb/victim"); }
static void ghost_directory_over_file(void) { ghost_of_directory("nb/file"); }

static void ghost_file(void) {
  open_new("nb/fresh", 04755);
  need(!unlink("nb/fresh"), "unlink");
  remove_and_link_out("nb");
}

static void ghost_over_file(void) {
  open_new("nb/file", 04755);
  need(!unlink("nb/file"), "unlink");
  remove_and_link_out("nb");
}

static void ghost_deep(void) {
  make_directory("nb/s1");
  make_directory("nb/s1/s2");
  open_new("nb/s1/s2/fresh", 0644);
  need(!unlink("nb/s1/s2/fresh") && !rmdir("nb/s1/s2") && !rmdir("nb/s1"), "remove");
  remove_and_link_out("nb");
}

static void ghost_by_dots(void) {
  char target[600];
  open_new("nb/file", 0644);
  need(!unlink("nb/file") && !rmdir("nb"), "remove");
  snprintf(target, sizeof target, "../../../../../../../../../../..%s", given("ATTACK_POSE_TARGET"));
  need(!symlink(target, "nb"), "symlink");
}

static void ghost_fifo(void) {
  need(!mkfifo("nb/fresh", 0666), "mkfifo");
  need(open("nb/fresh", O_RDWR) >= 0, "open");
  need(!unlink("nb/fresh"), "unlink");
  remove_and_link_out("nb");
}

static void ghost_working_directory(void) {
  make_directory("nb/victim");
  int base = open(".", O_RDONLY | O_DIRECTORY);
  need(!chdir("nb/victim"), "chdir");
  need(!unlinkat(base, "nb/victim", AT_REMOVEDIR) && !unlinkat(base, "nb", AT_REMOVEDIR), "remove");
  need(!symlinkat(given("ATTACK_POSE_TARGET"), base, "nb"), "symlink");
  close(base);
}

static void ghost_mapping(void) {
  int fd = open_new("nb/fresh", 0644);
  need(!ftruncate(fd, 8192), "ftruncate");
  need(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED, "mmap");
  need(!unlink("nb/fresh"), "unlink");
  close(fd);
  remove_and_link_out("nb");
}

static void ghost_locked(void) {
  int fd = open_new("nb/fresh", 0644);
  need(!flock(fd, LOCK_EX), "flock");
  need(!unlink("nb/fresh"), "unlink");
  remove_and_link_out("nb");
}

/* The program itself is gone: this process continues as a copy of it. */
static void ghost_program(void) {
  if (!getenv("ATTACK_POSED")) {
    char command[300];
    snprintf(command, sizeof command, "cp /proc/%d/exe nb/fresh && chmod 755 nb/fresh", getpid());
    need(system(command) == 0, "copy");
    setenv("ATTACK_POSED", "1", 1);
    execl("nb/fresh", "attacks", "pose", "ghost-program", NULL);
    need(false, "exec");
  }
  need(!unlink("nb/fresh"), "unlink");
  remove_and_link_out("nb");
}

static void ghost_root(void) {
  make_directory("nb/victim");
  int base = open(".", O_RDONLY | O_DIRECTORY);
  need(!chroot("nb/victim"), "chroot");
  need(!unlinkat(base, "nb/victim", AT_REMOVEDIR) && !unlinkat(base, "nb", AT_REMOVEDIR), "remove");
  need(!symlinkat(given("ATTACK_POSE_TARGET"), base, "nb"), "symlink");
  need(!fchdir(base), "fchdir");
  close(base);
}

static void second_name(void) {
  open_new("nb/fresh", 0644);
  need(!link("nb/fresh", "second"), "link");
  need(!unlink("nb/fresh"), "unlink");
  remove_and_link_out("nb");
}

/* A parent whose name is not text in any encoding. */
static void second_name_in_bytes(void) {
  make_directory("\xff\xfe\x80");
  open_new("\xff\xfe\x80/fresh", 0644);
  need(!link("\xff\xfe\x80/fresh", "second"), "link");
  need(!unlink("\xff\xfe\x80/fresh"), "unlink");
}

static void second_name_in_lost_bytes(void) {
  second_name_in_bytes();
  need(!rmdir("\xff\xfe\x80"), "rmdir");
}

static int bound(const char *path) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  need(!bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, 1), "bind");
  return fd;
}

static void absolute(char *path, size_t size, const char *name) {
  char base[300];
  need(getcwd(base, sizeof base), "getcwd");
  snprintf(path, size, "%s/%s", base, name);
}

static void socket_moved(void) {
  char path[400];
  absolute(path, sizeof path, "nb/file");
  bound(path);
  move_and_link_out("nb");
}

static void socket_unlinked(void) {
  char path[400];
  absolute(path, sizeof path, "nb/file");
  bound(path);
  need(!unlink("nb/file"), "unlink");
  remove_and_link_out("nb");
}

static void socket_relative(void) {
  need(!chdir("nb"), "chdir");
  bound("file");
  need(!chdir(".."), "chdir");
  move_and_link_out("nb");
}

static void watched_directory(void) {
  make_directory("nb/victim");
  int fd = inotify_init1(0);
  need(inotify_add_watch(fd, "nb/victim", IN_ALL_EVENTS) >= 0, "inotify_add_watch");
  move_and_link_out("nb");
}

static void watched_ghost(void) {
  int file = open_new("nb/fresh", 0644), fd = inotify_init1(0);
  need(inotify_add_watch(fd, "nb/fresh", IN_ALL_EVENTS) >= 0, "inotify_add_watch");
  need(!unlink("nb/fresh") && file >= 0, "unlink");
  remove_and_link_out("nb");
}

/* As long as a path may be, of names as long as a name may be. */
static void ghost_long(void) {
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  int base = open(".", O_RDONLY | O_DIRECTORY);
  need(!chdir("nb"), "chdir");
  for (int i = 0; i < 14; i++) need(!mkdir(name, 0777) && !chdir(name), "deep directory");
  open_new("fresh", 0644);
  need(!unlink("fresh"), "unlink");
  need(!fchdir(base), "fchdir");
  close(base);
  need(!rename("nb", "aside"), "rename");
  link_out("nb");
}

/* A real name that looks like the kernel's description of a file without a name. */
static void deleted_suffix(void) {
  open_new("nb/file (deleted)", 0644);
  link_out("nb/file");
}

static void control_characters(void) {
  int fd = open_new("nb/a\nb\tc\033]0;x\007 \\012", 0644);
  need(!ftruncate(fd, 4096), "ftruncate");
  need(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED, "mmap");
  need(!unlink("nb/a\nb\tc\033]0;x\007 \\012"), "unlink");
  remove_and_link_out("nb");
}

static const struct {
  const char *name;
  void (*pose)(void);
} poses[] = {
    {"ghost-directory", ghost_directory},
    {"ghost-directory-over-directory", ghost_directory_over_directory},
    {"ghost-directory-over-file", ghost_directory_over_file},
    {"ghost-file", ghost_file},
    {"ghost-over-file", ghost_over_file},
    {"ghost-deep", ghost_deep},
    {"ghost-by-dots", ghost_by_dots},
    {"ghost-by-proc", ghost_directory_over_file},
    {"ghost-fifo", ghost_fifo},
    {"ghost-working-directory", ghost_working_directory},
    {"ghost-mapping", ghost_mapping},
    {"ghost-locked", ghost_locked},
    {"ghost-program", ghost_program},
    {"ghost-root", ghost_root},
    {"ghost-long", ghost_long},
    {"second-name", second_name},
    {"second-name-in-bytes", second_name_in_bytes},
    {"second-name-in-lost-bytes", second_name_in_lost_bytes},
    {"socket-moved", socket_moved},
    {"socket-unlinked", socket_unlinked},
    {"socket-relative", socket_relative},
    {"watched-directory", watched_directory},
    {"watched-ghost", watched_ghost},
    {"name-deleted-suffix", deleted_suffix},
    {"name-control-characters", control_characters},
};

int list_poses(void) {
  for (size_t i = 0; i < COUNT(poses); i++) puts(poses[i].name);
  return 0;
}

static void enter_base(void) {
  umask(0);
  need(!chdir(given("ATTACK_POSE_BASE")), "base");
  if (!getenv("ATTACK_POSED")) make_directory("nb");
}

int pose(const char *name) {
  enter_base();
  for (size_t i = 0; i < COUNT(poses); i++) {
    if (strcmp(poses[i].name, name)) continue;
    poses[i].pose();
    puts("posed");
    for (;;) pause();
  }
  fprintf(stderr, "no pose %s\n", name);
  return 2;
}
