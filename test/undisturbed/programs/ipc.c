/* System V and POSIX memory, semaphores and messages. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

static void shared_segment(void) {
  int id = MUST(shmget(0x12345, 65536, IPC_CREAT | 0640));
  char *memory = MUST(shmat(id, NULL, 0));
  strcpy(memory, "shared");
  struct shmid_ds was, is;
  MUST(shmctl(id, IPC_STAT, &was));
  hold();
  MUST(shmctl(id, IPC_STAT, &is));
  same("id", id, shmget(0x12345, 0, 0));
  same("attached", (long)was.shm_nattch, (long)is.shm_nattch);
  same("maker", was.shm_cpid, is.shm_cpid);
  same("time of changing", was.shm_ctime, is.shm_ctime);
  same_text("contents", "shared", memory);
  MUST(shmctl(id, IPC_RMID, NULL));
}

/* A dump attaches it, since it cannot be read in another way. */
static void attached_segment(void) {
  int id = MUST(shmget(IPC_PRIVATE, 4096, 0600));
  MUST(shmat(id, NULL, 0));
  struct shmid_ds was, is;
  MUST(shmctl(id, IPC_STAT, &was));
  hold();
  MUST(shmctl(id, IPC_STAT, &is));
  same("last to attach", was.shm_lpid, is.shm_lpid);
  same("time of attaching", was.shm_atime, is.shm_atime);
  MUST(shmctl(id, IPC_RMID, NULL));
}

/* Removed while it is still attached, as most programs do at once. */
static void removed_segment(void) {
  int id = MUST(shmget(IPC_PRIVATE, 4096, 0600));
  char *memory = MUST(shmat(id, NULL, 0));
  MUST(shmctl(id, IPC_RMID, NULL));
  strcpy(memory, "removed");
  hold();
  same_text("contents", "removed", memory);
}

static void semaphores(void) {
  int id = MUST(semget(0x23456, 3, IPC_CREAT | 0600));
  struct sembuf change[] = {{0, 4, 0}, {1, 5, SEM_UNDO}, {2, 6, 0}};
  MUST(semop(id, change, 3));
  struct semid_ds was, is;
  MUST(semctl(id, 0, IPC_STAT, &was));
  hold();
  MUST(semctl(id, 0, IPC_STAT, &is));
  same("time of the last operation", was.sem_otime, is.sem_otime);
  same("time of changing", was.sem_ctime, is.sem_ctime);
  for (int i = 0; i < 3; i++) {
    same("value", 4 + i, semctl(id, i, GETVAL));
    same("last process", getpid(), semctl(id, i, GETPID));
  }
  MUST(semctl(id, 0, IPC_RMID));
}

/* What a process took is given back when it ends. */
static int undo_id;
static int takes_with_undo(void) {
  struct sembuf take = {0, -1, SEM_UNDO};
  MUST(semop(undo_id, &take, 1));
  until_over();
  return 0;
}
static void undone_semaphore(void) {
  undo_id = MUST(semget(IPC_PRIVATE, 1, 0600));
  struct sembuf give = {0, 2, 0};
  MUST(semop(undo_id, &give, 1));
  pid_t child = start(takes_with_undo);
  while (semctl(undo_id, 0, GETVAL) != 1) rest(0.01);
  hold();
  same("end of the child", 0, end_of(child));
  same("value after its end", 2, semctl(undo_id, 0, GETVAL));
  MUST(semctl(undo_id, 0, IPC_RMID));
}

struct message {
  long type;
  char text[16];
};
static void messages(void) {
  int id = MUST(msgget(0x34567, IPC_CREAT | 0600));
  struct message one = {3, "three"}, two = {1, "one"}, got;
  MUST(msgsnd(id, &one, 6, 0));
  MUST(msgsnd(id, &two, 4, 0));
  struct msqid_ds was, is;
  MUST(msgctl(id, IPC_STAT, &was));
  hold();
  MUST(msgctl(id, IPC_STAT, &is));
  same("id", id, msgget(0x34567, 0));
  same("messages", 2, (long)is.msg_qnum);
  same("last sender", was.msg_lspid, is.msg_lspid);
  same("time of sending", was.msg_stime, is.msg_stime);
  same("time of receiving", was.msg_rtime, is.msg_rtime);
  same("bytes", 4, msgrcv(id, &got, 16, 1, IPC_NOWAIT));
  same_text("the message of type 1", "one", got.text);
  MUST(msgctl(id, IPC_RMID, NULL));
}

static void posix_memory(void) {
  int fd = MUST(shm_open("/undisturbed", O_RDWR | O_CREAT, 0600));
  MUST(ftruncate(fd, 8192));
  char *memory = MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  strcpy(memory + 4096, "in /dev/shm");
  struct stat was, is;
  MUST(stat("/dev/shm/undisturbed", &was));
  hold();
  MUST(stat("/dev/shm/undisturbed", &is));
  same("inode", (long)was.st_ino, (long)is.st_ino);
  same("device", (long)was.st_dev, (long)is.st_dev);
  same("change time", was.st_ctim.tv_nsec, is.st_ctim.tv_nsec);
  same_text("contents", "in /dev/shm", memory + 4096);
  shm_unlink("/undisturbed");
}

static void posix_semaphore(void) {
  sem_t *semaphore = sem_open("/undisturbed", O_CREAT, 0600, 5);
  if (semaphore == SEM_FAILED) cannot(__FILE__, __LINE__, "sem_open");
  sem_wait(semaphore);
  hold();
  int value = -1;
  MUST(sem_getvalue(semaphore, &value));
  same("value", 4, value);
  EXPECT(sem_open("/undisturbed", 0) == semaphore);
  sem_unlink("/undisturbed");
}

static void message_queue(void) {
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 32}, is;
  mqd_t queue = MUST(mq_open("/undisturbed", O_RDWR | O_CREAT, 0600, &attributes));
  MUST(mq_send(queue, "low", 4, 1));
  MUST(mq_send(queue, "high", 5, 9));
  hold();
  MUST(mq_getattr(queue, &is));
  same("messages", 2, is.mq_curmsgs);
  char text[32] = "";
  unsigned priority = 0;
  same("bytes", 5, mq_receive(queue, text, sizeof text, &priority));
  same_text("the first message", "high", text);
  mq_unlink("/undisturbed");
}

const struct program ipc_programs[] = {
    {"shared-segment", shared_segment},     {"attached-segment", attached_segment},
    {"removed-segment", removed_segment},   {"semaphores", semaphores},
    {"undone-semaphore", undone_semaphore}, {"messages", messages},
    {"posix-memory", posix_memory},         {"posix-semaphore", posix_semaphore},
    {"message-queue", message_queue},       {0},
};
