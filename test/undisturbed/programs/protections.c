/* What a process has given up, or asked the kernel for, to be safe; and who others take it for. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Missing in older headers. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static void deny_write_execute(void) {
  MUST(prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0));
  hold();
  same("the protection", PR_MDWE_REFUSE_EXEC_GAIN, prctl(PR_GET_MDWE, 0, 0, 0, 0));
  EXPECT(mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static char *locked_line(void) { return line_of(slurp("/proc/self/status"), "VmLck:"); }

/* Flags of the area at an address, as smaps has them. */
static bool has_flag(const void *address, const char *flag) {
  char key[32], *text = slurp("/proc/self/smaps");
  snprintf(key, sizeof key, "%lx-", (unsigned long)address);
  char *area = strstr(text, key), *flags = area ? line_of(area, "VmFlags:") : strdup("");
  bool has = strstr(flags, flag);
  free(flags);
  free(text);
  return has;
}

/* Locked, but only what is touched is brought in. */
static void locked_on_fault(void) {
  const size_t size = 64 * 4096;
  char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(mlock2(area, size, MLOCK_ONFAULT));
  area[0] = 1;
  char *locked = locked_line();
  unsigned char present[64];
  hold();
  same_text("locked memory", locked, locked_line());
  EXPECT(has_flag(area, " lo"));
  MUST(mincore(area, size, present));
  EXPECT(present[0] & 1);
  EXPECT(!(present[40] & 1));
}

/* What is mapped from now on is locked, too. */
static void locked_future(void) {
  MUST(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT));
  hold();
  char *area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(mprotect(area, 4096, PROT_READ));
  EXPECT(has_flag(area, " lo"));
}

/* Whoever may read a process's memory is told by the owner of its files in /proc. */
static void owner_of_proc(void) {
  struct stat was, is;
  MUST(setresuid(1234, 1234, 1234));
  MUST(stat("/proc/self/environ", &was));
  hold();
  MUST(stat("/proc/self/environ", &is));
  same("dumpable", 0, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
  same("owner", (long)was.st_uid, (long)is.st_uid);
  same("group", (long)was.st_gid, (long)is.st_gid);
}

/* As on an upgrade: the program that runs is another file than the one with its name. */
static void replaced_program(void) {
  if (access("copy", F_OK)) {
    MUST(system("cp ../undisturbed copy"));
    execl("./copy", "undisturbed", "replaced-program", NULL);
    cannot(__FILE__, __LINE__, "./copy");
  }
  MUST(system("cp ../undisturbed newer && mv newer copy"));
  char was[PATH_MAX] = "", is[PATH_MAX] = "";
  MUST(readlink("/proc/self/exe", was, sizeof was - 1));
  char *names = slurp("/proc/self/maps");
  hold();
  MUST(readlink("/proc/self/exe", is, sizeof is - 1));
  same_text("the name of the program", was, is);
  EXPECT(strstr(names, "copy (deleted)") && strstr(slurp("/proc/self/maps"), "copy (deleted)"));
  EXPECT(system("[ $(ls -A | wc -l) = 2 ]") == 0);
}

/* A linked name keeps the file of the program. */
static void renamed_program(void) {
  if (access("copy", F_OK)) {
    MUST(system("cp ../undisturbed copy"));
    execl("./copy", "undisturbed", "renamed-program", NULL);
    cannot(__FILE__, __LINE__, "./copy");
  }
  MUST(system("ln copy old && cp ../undisturbed newer && mv newer copy"));
  char was[PATH_MAX] = "", is[PATH_MAX] = "";
  MUST(readlink("/proc/self/exe", was, sizeof was - 1));
  hold();
  MUST(readlink("/proc/self/exe", is, sizeof is - 1));
  same_text("the name of the program", was, is);
}

static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "peer"};

static int connects(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (setresgid(55, 55, 55) || setresuid(44, 44, 44)) return 1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) return 1;
  pause();
  return 0;
}

/* Of a connection between two processes with different users. */
static void peer_credentials(void) {
  int listener = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
  MUST(bind(listener, (struct sockaddr *)&address, sizeof address));
  MUST(chmod("peer", 0777));
  MUST(listen(listener, 5));
  pid_t child = start(connects);
  int fd = MUST(accept(listener, NULL, NULL));
  struct ucred peer = {0};
  socklen_t length = sizeof peer;
  hold();
  MUST(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length));
  same("process", child, peer.pid);
  same("user", 44, (long)peer.uid);
  same("group", 55, (long)peer.gid);
  kill(child, SIGKILL);
}

/* Of a pair that a parent made for its child. */
static void pair_credentials(void) {
  int pair[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  struct ucred was = {0}, is = {0};
  socklen_t length = sizeof was;
  MUST(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &was, &length));
  hold();
  MUST(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &is, &length));
  same("process", was.pid, is.pid);
  same("user", (long)was.uid, (long)is.uid);
}

static void speculation(void) {
  char *was = line_of(slurp("/proc/self/status"), "Speculation");
  prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_FORCE_DISABLE, 0, 0);
  free(was);
  was = line_of(slurp("/proc/self/status"), "Speculation_Store_Bypass:");
  hold();
  same_text("/proc/self/status", was, line_of(slurp("/proc/self/status"), "Speculation_Store_Bypass:"));
}

/* mseal(2): nobody may change or unmap these areas any more. */
static void sealed_memory(void) {
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
  char *area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  area[0] = 7;
  MUST(mprotect(area, 4096, PROT_READ));
  MUST(syscall(SYS_mseal, area, 4096UL, 0UL));
  hold();
  EXPECT(area[0] == 7);
  EXPECT(mprotect(area, 4096, PROT_READ | PROT_WRITE) < 0 && errno == EPERM);
}

const struct program protection_programs[] = {
    {"deny-write-execute", deny_write_execute},
    {"locked-on-fault", locked_on_fault},
    {"locked-future", locked_future},
    {"owner-of-proc", owner_of_proc},
    {"replaced-program", replaced_program},
    {"renamed-program", renamed_program},
    {"peer-credentials", peer_credentials},
    {"pair-credentials", pair_credentials},
    {"speculation", speculation},
    {"sealed-memory", sealed_memory},
    {0},
};
