/* What waits in the kernel until a program takes it: connections, messages with their senders, queues, packets. */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LONG 20000

static char bytes[65536];

static int listening(int type, struct sockaddr_un *name) {
  int fd = MUST(socket(AF_UNIX, type, 0));
  MUST(bind(fd, (struct sockaddr *)name, sizeof *name));
  MUST(listen(fd, 8));
  return fd;
}

static int connected(int type, struct sockaddr_un *name) {
  int fd = MUST(socket(AF_UNIX, type, 0));
  MUST(connect(fd, (struct sockaddr *)name, sizeof *name));
  return fd;
}

static void expect_text(int fd, const char *text) {
  ssize_t got = recv(fd, bytes, sizeof bytes - 1, MSG_DONTWAIT);
  bytes[got > 0 ? got : 0] = 0;
  same_text("what was sent", text, bytes);
}

/* Clients that have sent much, have shut down, and are closed. */
static void backlog(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
  int listener = listening(SOCK_STREAM, &name), first = connected(SOCK_STREAM, &name);
  memset(bytes, 'x', LONG);
  MUST(send(first, bytes, LONG, 0));
  int second = connected(SOCK_STREAM, &name), third = connected(SOCK_STREAM, &name);
  MUST(send(second, "shut", 4, 0));
  MUST(shutdown(second, SHUT_WR));
  MUST(send(third, "closed", 6, 0));
  close(third);
  hold();
  fcntl(listener, F_SETFL, O_NONBLOCK);
  int server = accept(listener, NULL, NULL);
  same("bytes of the first", LONG, recv(server, bytes, sizeof bytes, MSG_DONTWAIT));
  EXPECT(bytes[LONG - 1] == 'x');
  server = accept(listener, NULL, NULL);
  expect_text(server, "shut");
  same("the end of the second", 0, recv(server, bytes, sizeof bytes, MSG_DONTWAIT));
  EXPECT(send(server, "back", 4, MSG_NOSIGNAL) == 4);
  expect_text(second, "back");
  server = accept(listener, NULL, NULL);
  expect_text(server, "closed");
  same("the end of the third", 0, recv(server, bytes, sizeof bytes, MSG_DONTWAIT));
  EXPECT(accept(listener, NULL, NULL) < 0 && errno == EAGAIN);
}

static void packet_backlog(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0undisturbed-packets"};
  int listener = listening(SOCK_SEQPACKET, &name);
  int first = connected(SOCK_SEQPACKET, &name), second = connected(SOCK_SEQPACKET, &name);
  MUST(send(first, "one", 3, 0));
  MUST(send(first, "two", 3, 0));
  MUST(send(second, "closed", 6, 0));
  close(second);
  hold();
  int server = accept(listener, NULL, NULL);
  expect_text(server, "one");
  expect_text(server, "two");
  server = accept(listener, NULL, NULL);
  expect_text(server, "closed");
}

static void send_as(int fd, const char *text, gid_t gid) {
  struct ucred from = {getpid(), getuid(), gid};
  struct iovec part = {(void *)text, strlen(text)};
  char control[CMSG_SPACE(sizeof from)] __attribute__((aligned(8))) = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){CMSG_LEN(sizeof from), SOL_SOCKET, SCM_CREDENTIALS};
  memcpy(CMSG_DATA(header), &from, sizeof from);
  MUST(sendmsg(fd, &message, 0));
}

static void expect_sender(int fd, const char *text, pid_t pid, gid_t gid) {
  struct iovec part = {bytes, sizeof bytes - 1};
  char control[256] __attribute__((aligned(8)));
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT);
  bytes[got > 0 ? got : 0] = 0;
  same_text("the message", text, bytes);
  struct cmsghdr *header = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_CREDENTIALS) return notice("no sender of \"%s\"", text);
  struct ucred *from = (struct ucred *)CMSG_DATA(header);
  same("pid of the sender", pid, from->pid);
  same("uid of the sender", (long)getuid(), (long)from->uid);
  same("gid of the sender", (long)gid, (long)from->gid);
}

static int stream[2], letters[2];
static int child_sends(void) {
  send_as(stream[0], "from a child", 7);
  pause();
  return 0;
}

/* Who sent what is in two sockets, one of them a stream with two senders. */
static void senders(void) {
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, stream));
  MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, letters));
  MUST(setsockopt(stream[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)));
  MUST(setsockopt(letters[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)));
  send_as(letters[0], "a letter", 5);
  MUST(send(letters[0], "another", 7, 0));
  MUST(send(stream[0], "from the parent", 15, 0));
  pid_t child = start(child_sends);
  for (int in = 0; in < 27; MUST(ioctl(stream[1], FIONREAD, &in))) rest(0.01);
  hold();
  expect_sender(stream[1], "from the parent", getpid(), getgid());
  expect_sender(stream[1], "from a child", child, 7);
  expect_sender(letters[1], "a letter", getpid(), 5);
  expect_sender(letters[1], "another", getpid(), getgid());
}

static mqd_t queue_of(const char *name, int flags) {
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 32};
  return MUST(mq_open(name, flags | O_CREAT, 0640, &attributes));
}

static void expect_queued(mqd_t queue, const char *text, unsigned priority) {
  char got[32] = "";
  unsigned is = 0;
  ssize_t length = mq_receive(queue, got, sizeof got, &is);
  same("bytes", (long)strlen(text), length);
  same_text("message", text, got);
  same("priority", priority, is);
}

static mqd_t shared_queue;
static int child_waits(void) {
  char got[32];
  return mq_receive(shared_queue, got, sizeof got, NULL) == 5 ? 0 : 1;
}

/* Queues that nobody has open, that have no name any more, and that a child waits for. */
static void queues(void) {
  mqd_t closed = queue_of("/undisturbed-closed", O_RDWR), deleted = queue_of("/undisturbed-deleted", O_RDWR);
  MUST(mq_send(closed, "first", 5, 3));
  MUST(mq_send(closed, "second", 6, 3));
  MUST(mq_send(closed, "urgent", 6, 30));
  MUST(mq_close(closed));
  MUST(mq_send(deleted, "nameless", 8, 0));
  MUST(mq_unlink("/undisturbed-deleted"));
  shared_queue = queue_of("/undisturbed-shared", O_RDWR);
  pid_t child = start(child_waits);
  signal(SIGUSR1, SIG_IGN);
  hold();
  struct stat info;
  struct mq_attr is;
  MUST(mq_getattr(shared_queue, &is));
  same("most messages", 4, is.mq_maxmsg);
  same("most bytes", 32, is.mq_msgsize);
  MUST(fstat(shared_queue, &info));
  same("mode", 0640 & ~022, (long)info.st_mode & 0777);
  MUST(mq_send(shared_queue, "there", 5, 0));
  same("end of the child", 0, end_of(child));
  expect_queued(deleted, "nameless", 0);
  closed = mq_open("/undisturbed-closed", O_RDONLY);
  expect_queued(closed, "urgent", 30);
  expect_queued(closed, "first", 3);
  expect_queued(closed, "second", 3);
  EXPECT(mq_open("/undisturbed-deleted", O_RDONLY) < 0 && errno == ENOENT);
  mq_unlink("/undisturbed-closed");
  mq_unlink("/undisturbed-shared");
}

/* A signal when something comes. */
static volatile sig_atomic_t told;
static void be_told(int signal, siginfo_t *info, void *unused) {
  (void)signal, (void)unused;
  told = info->si_value.sival_int;
}

static void notification(void) {
  mqd_t queue = queue_of("/undisturbed-notifying", O_RDWR);
  struct sigaction action = {.sa_sigaction = be_told, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 42}};
  MUST(sigaction(SIGUSR1, &action, NULL));
  MUST(mq_notify(queue, &event));
  hold();
  same("told before", 0, told);
  MUST(mq_send(queue, "!", 1, 0));
  same("told after", 42, told);
  mq_unlink("/undisturbed-notifying");
}

/* More than CRIU has room for. */
#define MANY 1100
static void many_pipes(void) {
  static int ends[MANY][2];
  struct rlimit most;
  MUST(getrlimit(RLIMIT_NOFILE, &most));
  most.rlim_cur = most.rlim_max < 4096 ? most.rlim_max : 4096;
  MUST(setrlimit(RLIMIT_NOFILE, &most));
  for (int i = 0; i < MANY; i++) {
    MUST(pipe(ends[i]));
    if (i % 3 == 0) MUST(write(ends[i][1], &i, sizeof i));
  }
  int size = MUST(fcntl(ends[0][0], F_GETPIPE_SZ)), last_size = MUST(fcntl(ends[MANY - 1][0], F_GETPIPE_SZ));
  hold();
  same("size of the first", size, fcntl(ends[0][0], F_GETPIPE_SZ));
  same("size of the last", last_size, fcntl(ends[MANY - 1][0], F_GETPIPE_SZ));
  for (int i = 0, in = -1, waiting = 0; i < MANY && !has_noticed(); i++) {
    MUST(ioctl(ends[i][0], FIONREAD, &waiting));
    same("bytes in a pipe", i % 3 == 0 ? (long)sizeof i : 0, waiting);
    if (i % 3) MUST(write(ends[i][1], &i, sizeof i));
    same("length", sizeof in, read(ends[i][0], &in, sizeof in));
    same("contents", i, in);
  }
}

const struct program in_flight_programs[] = {
    {"unix-backlog", backlog},
    {"packet-backlog", packet_backlog},
    {"unix-senders", senders},
    {"message-queues", queues},
    {"queue-notification", notification},
    {"many-pipes", many_pipes},
    {0},
};
