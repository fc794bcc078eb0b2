/* Waits without an end: a thread or a child waits until the program itself ends it, and nothing else may. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child waits: 0 when its wait ended as it should, else errno. `wake` ends it. */
static void child_waits(int (*waiter)(void), void (*wake)(pid_t)) {
  pid_t child = start(waiter);
  rest(0.1);
  hold();
  int status;
  pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == child) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    notice("the wait ended by itself with %s", code > 0 ? strerror(code) : "its result");
    return;
  }
  wake(child);
  int end = end_of(child);
  if (end) notice("the wait ended with %s", strerror(end));
}

static int ends[2], fd, id;
static char bytes[64];

static int result(long got) { return got >= 0 ? 0 : errno; }
static void write_byte(pid_t child) {
  (void)child;
  MUST(write(ends[1], "x", 1));
}
static void on_signal(int number) { (void)number; }

static int reads_pipe(void) { return result(read(ends[0], bytes, 1)); }
static void read_pipe(void) {
  MUST(pipe(ends));
  child_waits(reads_pipe, write_byte);
}

static int polls(void) {
  struct pollfd in = {.fd = ends[0], .events = POLLIN};
  return result(poll(&in, 1, -1));
}
static void poll_forever(void) {
  MUST(pipe(ends));
  child_waits(polls, write_byte);
}

static int selects(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  return result(select(ends[0] + 1, &set, NULL, NULL, NULL));
}
static void select_forever(void) {
  MUST(pipe(ends));
  child_waits(selects, write_byte);
}

static int waits_epoll(void) {
  struct epoll_event event;
  return result(epoll_wait(fd, &event, 1, -1));
}
static void epoll_forever(void) {
  MUST(pipe(ends));
  fd = MUST(epoll_create1(0));
  struct epoll_event in = {.events = EPOLLIN};
  MUST(epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &in));
  child_waits(waits_epoll, write_byte);
}

static int reads_fd(void) { return result(read(fd, bytes, sizeof bytes)); }
static void add_one(pid_t child) {
  (void)child;
  MUST(eventfd_write(fd, 1));
}
static void read_eventfd(void) {
  fd = MUST(eventfd(0, 0));
  child_waits(reads_fd, add_one);
}
static void make_file(pid_t child) {
  (void)child;
  write_file("new", "");
}
static void read_inotify(void) {
  fd = MUST(inotify_init1(0));
  MUST(inotify_add_watch(fd, ".", IN_CREATE));
  child_waits(reads_fd, make_file);
}
static void set_timer(pid_t child) {
  (void)child;
  struct itimerspec soon = {.it_value.tv_nsec = 1};
  MUST(timerfd_settime(fd, 0, &soon, NULL));
}
static void read_timerfd(void) {
  fd = MUST(timerfd_create(CLOCK_MONOTONIC, 0));
  child_waits(reads_fd, set_timer);
}

static struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
static int accepts(void) { return result(accept(fd, NULL, NULL)); }
static void connects(pid_t child) {
  (void)child;
  MUST(connect(MUST(socket(AF_UNIX, SOCK_STREAM, 0)), (struct sockaddr *)&name, sizeof name));
}
static void accept_forever(void) {
  fd = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
  MUST(bind(fd, (struct sockaddr *)&name, sizeof name));
  MUST(listen(fd, 1));
  child_waits(accepts, connects);
}

static int receives(void) { return result(recvfrom(ends[0], bytes, 1, 0, NULL, NULL)); }
static void receive_forever(void) {
  MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
  child_waits(receives, write_byte);
}

static int takes_semaphore(void) {
  struct sembuf take = {.sem_op = -1};
  return result(semop(id, &take, 1));
}
static void give_semaphore(pid_t child) {
  (void)child;
  struct sembuf give = {.sem_op = 1};
  MUST(semop(id, &give, 1));
}
static void semop_forever(void) {
  id = MUST(semget(IPC_PRIVATE, 1, 0600));
  child_waits(takes_semaphore, give_semaphore);
  semctl(id, 0, IPC_RMID);
}

struct message {
  long type;
  char text[8];
};
static int receives_message(void) {
  struct message message;
  return result(msgrcv(id, &message, sizeof message.text, 0, 0));
}
static void send_message(pid_t child) {
  (void)child;
  struct message message = {.type = 1};
  MUST(msgsnd(id, &message, sizeof message.text, 0));
}
static void msgrcv_forever(void) {
  id = MUST(msgget(IPC_PRIVATE, 0600));
  child_waits(receives_message, send_message);
  msgctl(id, IPC_RMID, NULL);
}

static int *shared_word;
static int waits_futex(void) { return result(syscall(SYS_futex, shared_word, FUTEX_WAIT, 0, NULL, NULL, 0)); }
static void wake_futex(pid_t child) {
  (void)child;
  same("waiters", 1, syscall(SYS_futex, shared_word, FUTEX_WAKE, 10, NULL, NULL, 0));
}
static void futex_forever(void) {
  shared_word = MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  child_waits(waits_futex, wake_futex);
}

/* These end by a signal: EINTR is then the truth. */
static void send_usr1(pid_t child) { kill(child, SIGUSR1); }
static int pauses(void) {
  signal(SIGUSR1, on_signal);
  return pause() < 0 && errno == EINTR ? 0 : errno;
}
static void pause_forever(void) { child_waits(pauses, send_usr1); }

static void block_usr1(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
}
static int suspends(void) {
  sigset_t none;
  sigemptyset(&none);
  signal(SIGUSR1, on_signal);
  return sigsuspend(&none) < 0 && errno == EINTR ? 0 : errno;
}
static void sigsuspend_forever(void) {
  block_usr1();
  child_waits(suspends, send_usr1);
}
static int waits_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return sigwaitinfo(&set, NULL) == SIGUSR1 ? 0 : errno;
}
static void sigwaitinfo_forever(void) {
  block_usr1();
  child_waits(waits_signal, send_usr1);
}

static int waits_for_child(void) {
  pid_t child = MUST(fork());
  if (child == 0) {
    pause();
    _exit(0);
  }
  MUST(write(ends[1], &child, sizeof child));
  int status;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? 0 : errno ? errno : EINVAL;
}
static void kill_grandchild(pid_t child) {
  (void)child;
  pid_t grandchild;
  MUST(read(ends[0], &grandchild, sizeof grandchild));
  kill(grandchild, SIGKILL);
}
static void wait_forever(void) {
  MUST(pipe(ends));
  child_waits(waits_for_child, kill_grandchild);
}

static int opens_fifo(void) { return result(open("fifo", O_RDONLY)); }
static void open_fifo(pid_t child) {
  (void)child;
  MUST(open("fifo", O_WRONLY));
}
static void fifo_forever(void) {
  MUST(mkfifo("fifo", 0600));
  child_waits(opens_fifo, open_fifo);
}

const struct program endless_wait_programs[] = {
    {"pipe-read", read_pipe},
    {"poll-forever", poll_forever},
    {"select-forever", select_forever},
    {"epoll-forever", epoll_forever},
    {"eventfd-read", read_eventfd},
    {"inotify-read", read_inotify},
    {"timerfd-read", read_timerfd},
    {"accept-forever", accept_forever},
    {"receive-forever", receive_forever},
    {"semop-forever", semop_forever},
    {"msgrcv-forever", msgrcv_forever},
    {"futex-forever", futex_forever},
    {"pause-forever", pause_forever},
    {"sigsuspend-forever", sigsuspend_forever},
    {"sigwaitinfo-forever", sigwaitinfo_forever},
    {"waitpid-forever", wait_forever},
    {"fifo-open", fifo_forever},
    {0},
};
