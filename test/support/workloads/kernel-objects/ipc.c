/* System V and POSIX shared memory, semaphores and message queues. */
#define _GNU_SOURCE
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#define KEY 0x464f524b

static char *segment;

static void make_segment(void) {
  segment = MUST(shmat(MUST(shmget(KEY, 65536, IPC_CREAT | 0640)), NULL, 0));
  strcpy(segment + 60000, "in a segment");
}

static bool attached_elsewhere(void) {
  char *other = shmat(shmget(KEY, 0, 0), NULL, SHM_RDONLY);
  return other != (void *)-1 && !strcmp(other + 60000, "in a segment");
}

static bool segment_holds(void) {
  struct shmid_ds facts;
  int id = shmget(KEY, 0, 0);
  return shmctl(id, IPC_STAT, &facts) == 0 && facts.shm_segsz == 65536 &&
         (facts.shm_perm.mode & 0777) == 0640 && !strcmp(segment + 60000, "in a segment") &&
         in_child(attached_elsewhere);
}

static void make_semaphores(void) {
  int id = MUST(semget(KEY, 3, IPC_CREAT | 0600));
  unsigned short values[] = {5, 0, 1};
  MUST(semctl(id, 0, SETALL, values));
}

static bool semaphores_hold(void) {
  int id = semget(KEY, 3, 0);
  struct sembuf take = {.sem_num = 1, .sem_op = -1, .sem_flg = IPC_NOWAIT};
  return semctl(id, 0, GETVAL) == 5 && semctl(id, 2, GETVAL) == 1 && semop(id, &take, 1) < 0 &&
         errno == EAGAIN;
}

struct message {
  long type;
  char text[32];
};

static void make_messages(void) {
  int id = MUST(msgget(KEY, IPC_CREAT | 0600));
  MUST(msgsnd(id, &(struct message){3, "first"}, 32, 0));
  MUST(msgsnd(id, &(struct message){4, "second"}, 32, 0));
}

static bool message_is(int id, int index, long type, const char *text) {
  struct message message;
  return msgrcv(id, &message, 32, index, MSG_COPY | IPC_NOWAIT) == 32 && message.type == type &&
         !strcmp(message.text, text);
}

static bool messages_hold(void) {
  int id = msgget(KEY, 0);
  return message_is(id, 0, 3, "first") && message_is(id, 1, 4, "second");
}

static char *posix_memory, *unlinked_memory;

static char *make_memory(const char *name, const char *text) {
  int fd = MUST(shm_open(name, O_RDWR | O_CREAT, 0600));
  MUST(ftruncate(fd, 8192));
  char *memory = MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  strcpy(memory + 5000, text);
  MUST(close(fd));
  return memory;
}

static void make_posix_memory(void) {
  posix_memory = make_memory("/kept", "posix");
  unlinked_memory = make_memory("/unlinked", "posix, unlinked");
  MUST(shm_unlink("/unlinked"));
}

static bool mapped_elsewhere(void) {
  char *other = mmap(NULL, 8192, PROT_READ, MAP_SHARED, shm_open("/kept", O_RDONLY, 0), 0);
  return other != MAP_FAILED && !strcmp(other + 5000, "posix");
}

static bool posix_memory_holds(void) {
  return !strcmp(posix_memory + 5000, "posix") && in_child(mapped_elsewhere) &&
         !strcmp(unlinked_memory + 5000, "posix, unlinked") &&
         shm_open("/unlinked", O_RDONLY, 0) < 0;
}

static sem_t *named, *in_memory;

static void make_posix_semaphores(void) {
  named = sem_open("/semaphore", O_CREAT, 0600, 3);
  if (named == SEM_FAILED) fail(__FILE__, __LINE__, "sem_open");
  in_memory = MUST(
      mmap(NULL, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  MUST(sem_init(in_memory, 1, 0));
}

static bool post(void) {
  return sem_post(in_memory) == 0 && sem_wait(named) == 0 && sem_post(named) == 0;
}

static bool posix_semaphores_hold(void) {
  int value = 0;
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec += 5;
  return sem_getvalue(named, &value) == 0 && value == 3 && in_child(post) &&
         sem_timedwait(in_memory, &soon) == 0;
}

const struct object ipc_objects[] = {
    {"a System V segment", make_segment, segment_holds},
    {"System V semaphores", make_semaphores, semaphores_hold},
    {"a System V message queue", make_messages, messages_hold},
    {"POSIX shared memory", make_posix_memory, posix_memory_holds},
    {"POSIX semaphores", make_posix_semaphores, posix_semaphores_hold},
    {0},
};
