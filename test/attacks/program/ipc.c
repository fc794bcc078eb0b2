/* Objects of the host that have a number or a name instead of a path. */
#define _GNU_SOURCE
#include "attack.h"
#include "targets.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct finding find_shared_memory(const void *with) { return judge(shmget(TARGET_KEY, 0, 0), "shmget"); }
static struct finding find_queue(const void *with) { return judge(msgget(TARGET_KEY, 0), "msgget"); }
static struct finding find_semaphores(const void *with) { return judge(semget(TARGET_KEY, 0, 0), "semget"); }
static struct finding open_queue(const void *with) { return judge(mq_open(TARGET_QUEUE, O_RDWR), "mq_open"); }
static struct finding unlink_queue(const void *with) { return judge(mq_unlink(TARGET_QUEUE "-2"), "mq_unlink"); }

static struct finding list_shared_memory(const void *with) {
  struct shmid_ds found;
  int highest = shmctl(0, SHM_INFO, &found);
  for (int i = 0; i <= highest; i++)
    if (shmctl(i, SHM_STAT_ANY, &found) >= 0 && found.shm_perm.__key == TARGET_KEY) return succeeded("segment %d is listed", i);
  return refused("not listed");
}

static struct finding connect_abstract(const void *with) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)snprintf(to.sun_path + 1, 64, "%s", given("ATTACK_ABSTRACT")));
  return judge(connect(fd, (struct sockaddr *)&to, length), "connect");
}

static struct finding list_sockets(const void *with) {
  char text[1 << 16];
  int fd = open("/proc/net/unix", O_RDONLY);
  for (ssize_t length; (length = read(fd, text, sizeof text)) > 0;)
    if (memmem(text, (size_t)length, given("ATTACK_ABSTRACT"), strlen(given("ATTACK_ABSTRACT")))) return succeeded("it is listed");
  return refused("not listed");
}

static struct finding open_shared_file(const void *with) { return judge(open(given("ATTACK_SHM_FILE"), O_RDONLY), "open"); }

static const struct attack attacks[] = {
    {"shared-memory-find", find_shared_memory},
    {"shared-memory-list", list_shared_memory},
    {"shared-memory-file", open_shared_file},
    {"message-queue-find", find_queue},
    {"semaphores-find", find_semaphores},
    {"posix-queue-open", open_queue},
    {"posix-queue-unlink", unlink_queue},
    {"abstract-socket-connect", connect_abstract},
    {"abstract-socket-list", list_sockets},
};
SUBJECT(ipc_attacks, attacks);
