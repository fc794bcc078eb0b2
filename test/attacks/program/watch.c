/* The host's side: makes what attacks aim at, and reports what happened to it. */
#define _GNU_SOURCE
#include "attack.h"
#include "modes.h"
#include "observe.h"
#include "targets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(3);
}

static void say(const char *variable, const char *value) {
  setenv(variable, value, 1);
  printf("%s=%s\n", variable, value);
}

static void say_number(const char *variable, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  say(variable, text);
}

static char secret[16] = "of the victim";

/* Blocks every signal, so that those that arrive stay visible. */
static pid_t start_victim(uid_t user) {
  pid_t pid = fork();
  if (pid) return pid;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "attack-victim");
  if (user && (setresgid(user, user, user) || setresuid(user, user, user))) exit(3);
  if (user) prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

static void start_victims(void) {
  pid_t first = start_victim(0);
  observe_victim(first);
  say_number("ATTACK_VICTIM", first);
  say_number("ATTACK_VICTIM_ADDRESS", (long)secret);
  char users[128];
  snprintf(users, sizeof users, "%s", getenv("ATTACK_VICTIM_USERS") ?: "");
  for (char *user = strtok(users, ","); user; user = strtok(NULL, ",")) observe_victim(start_victim((uid_t)atol(user)));
}

static int bound(int fd, const struct sockaddr *address, socklen_t length) {
  if (fd < 0 || bind(fd, address, length) || listen(fd, 64)) fail("listen");
  return fd;
}

static void listen_on_tcp(void) {
  struct sockaddr_in6 any = {.sin6_family = AF_INET6};
  int fd = bound(socket(AF_INET6, SOCK_STREAM, 0), (struct sockaddr *)&any, sizeof any);
  getsockname(fd, (struct sockaddr *)&any, &(socklen_t){sizeof any});
  say_number("ATTACK_PORT", ntohs(any.sin6_port));
}

static void listen_on_abstract(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char name[64];
  snprintf(name, sizeof name, "forkpoint-attack-%d", getpid());
  memcpy(address.sun_path + 1, name, strlen(name));
  bound(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
  say("ATTACK_ABSTRACT", name);
}

static void listen_in(const char *directory) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", directory);
  bound(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
  chmod(address.sun_path, 0777);
}

static int segment, messages, semaphores;
static char shared_file[64];

static void make_ipc_objects(void) {
  segment = shmget(TARGET_KEY, 4096, IPC_CREAT | 0666);
  messages = msgget(TARGET_KEY, IPC_CREAT | 0666);
  semaphores = semget(TARGET_KEY, 1, IPC_CREAT | 0666);
  if (segment < 0 || messages < 0 || semaphores < 0) fail("System V objects");
  if (mq_open(TARGET_QUEUE, O_CREAT | O_RDWR, 0666, NULL) < 0) fail("mq_open");
  if (mq_open(TARGET_QUEUE "-2", O_CREAT | O_RDWR, 0666, NULL) < 0) fail("mq_open");
  snprintf(shared_file, sizeof shared_file, "/dev/shm/forkpoint-attack-%d", getpid());
  if (!write_text(shared_file, "secret")) fail(shared_file);
  say("ATTACK_SHM_FILE", shared_file);
}

void remove_targets(void) {
  shmctl(segment, IPC_RMID, NULL);
  msgctl(messages, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
  mq_unlink(TARGET_QUEUE);
  mq_unlink(TARGET_QUEUE "-2");
  unlink(shared_file);
}

static const char *join(const char *directory, const char *name) {
  static char paths[8][1024]; /* more than are in use at the same time */
  static int turn;
  turn = (turn + 1) % 8;
  snprintf(paths[turn], sizeof *paths, "%s/%s", directory, name);
  return paths[turn];
}

static void make_open_directory(const char *path) {
  if (mkdir(path, 0777) || chmod(path, 0777)) fail(path);
}

static void make_open_file(const char *path, const char *text) {
  if (!write_text(path, text) || chmod(path, 0666)) fail(path);
}

static void make_device(const char *directory, const char *name, mode_t kind, dev_t device) {
  const char *path = join(directory, name);
  if (mknod(path, kind | 0666, device) || chmod(path, 0666)) fail(path);
}

static void make_devices(const char *directory) {
  make_open_directory(directory);
  make_device(directory, "zero", S_IFCHR, makedev(1, 5));
  make_device(directory, "kmsg", S_IFCHR, makedev(1, 11));
  unsigned major = 7, minor = 0;
  if (sscanf(given("ATTACK_DISK"), "%u:%u", &major, &minor) != 2) fail("ATTACK_DISK");
  make_device(directory, "disk", S_IFBLK, makedev(major, minor));
}

static void make_masked(const char *directory) {
  make_open_directory(directory);
  make_open_directory(join(directory, "masked"));
  make_open_file(join(directory, "masked/file"), "secret");
}

static void make_tree(const char *directory) {
  make_open_directory(directory);
  for (size_t i = 0; i < canary_attacks.count; i++) {
    char place[700];
    snprintf(place, sizeof place, "%s/%s", directory, canary_attacks.attacks[i].name);
    make_open_directory(place);
    make_open_file(join(place, "file"), "of the host");
    make_open_directory(join(place, "empty"));
  }
  make_devices(join(directory, "devices"));
  make_masked(join(directory, "mask"));
  make_open_directory(join(directory, "mask-by-link"));
  listen_in(join(directory, "host-socket-connect"));
  if (mkfifo(join(directory, "host-fifo-write/fifo"), 0666) || chmod(join(directory, "host-fifo-write/fifo"), 0666)) fail("mkfifo");
  make_open_file(join(directory, "host-file-spy/ticking"), "0");
}

/* Does what spies want to see: changes files and sends datagrams over loopback. */
static void start_ticking(const char *directory, char **passes) {
  if (fork()) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (;; usleep(20000)) {
    sendto(fd, TARGET_MARK, strlen(TARGET_MARK), 0, (struct sockaddr *)&to, sizeof to);
    for (char **pass = passes; *pass; pass++) {
      char path[1024];
      snprintf(path, sizeof path, "%s/%s/host-file-spy/ticking", directory, *pass);
      write_text(path, "1");
    }
  }
}

void provide_targets(const char *directory, char **passes) {
  umask(0);
  make_ipc_objects();
  listen_on_tcp();
  listen_on_abstract();
  start_victims();
  for (char **pass = passes; *pass; pass++) {
    char tree[600];
    snprintf(tree, sizeof tree, "%s/%s", directory, *pass);
    make_tree(tree);
    observe_tree(tree, *pass);
  }
  start_ticking(directory, passes);
}

/* Each line of input is the name of a pass to look at. */
int watch(const char *directory, char **passes) {
  provide_targets(directory, passes);
  puts("ready");
  for (char line[256]; fgets(line, sizeof line, stdin);) {
    line[strcspn(line, "\n")] = '\0';
    if (!strcmp(line, "begin"))
      begin_observation();
    else
      tell_observations(line);
    puts("done");
  }
  remove_targets();
  return 0;
}
