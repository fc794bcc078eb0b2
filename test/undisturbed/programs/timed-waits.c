/* Waits that have an end: each is made over and over, and must take its time, no more and no less, and end
 * as it should. Nobody sends a signal, so nobody may see EINTR. */
#define _GNU_SOURCE
#include "program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Long enough that some snapshot falls into each. */
#define SECONDS 2
/* How late a wait may end, beside the time in which everything stood still: for a busy machine. A wait that
 * began anew at each snapshot would not end as long as they are taken. */
#define PATIENCE 3

static const struct timespec span = {.tv_sec = SECONDS};

/* A wait returns 0 when it ended as it should, else errno, or -1 for another result. */
static void over_and_over(int (*wait)(void)) {
  ready();
  do {
    double begin = now(), stops = stood_still();
    int result = wait();
    double took = now() - begin, late = late_by(took - SECONDS, stops);
    if (result != 0)
      notice("it ended with %s after %.3f s", result < 0 ? "another result" : strerror(result), took);
    else if (took < SECONDS - 0.001)
      notice("it took %.3f s of %d", took, SECONDS);
    else if (late > PATIENCE)
      notice("it took %.3f s, not %d", took, SECONDS);
  } while (!is_over() && !has_noticed());
}

/* 0 if the call failed with `expected`. */
static int fails(long result, int expected) { return result >= 0 ? -1 : errno == expected ? 0 : errno; }
static int gives(long result, long expected) { return result == expected ? 0 : result < 0 ? errno : -1; }

static struct timespec later(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += SECONDS;
  return time;
}

static int do_sleep(void) { return gives(sleep(SECONDS), 0); }
static int do_usleep(void) { return gives(usleep(SECONDS * 1000000), 0); }
static int do_nanosleep(void) { return gives(nanosleep(&span, NULL), 0); }
/* What is left is written at every stop, by the kernel itself; only the result counts. */
static int do_remaining(void) {
  struct timespec left;
  return gives(nanosleep(&span, &left), 0);
}
static int do_clock_nanosleep(void) { return clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL); }
static int do_boottime(void) { return clock_nanosleep(CLOCK_BOOTTIME, 0, &span, NULL); }
static int do_until(void) {
  struct timespec end = later(CLOCK_REALTIME);
  return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL);
}

static int silent[2];
static void make_silence(void) { MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, silent)); }

static int do_poll(void) {
  struct pollfd in = {.fd = silent[0], .events = POLLIN};
  return gives(poll(&in, 1, SECONDS * 1000), 0);
}
static int do_ppoll(void) {
  struct pollfd in = {.fd = silent[0], .events = POLLIN};
  struct timespec left = span;
  return gives(ppoll(&in, 1, &left, NULL), 0);
}
static int do_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(silent[0], &set);
  struct timeval left = {.tv_sec = SECONDS};
  return gives(select(silent[0] + 1, &set, NULL, NULL, &left), 0);
}
static int do_pselect(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(silent[0], &set);
  sigset_t mask;
  sigemptyset(&mask);
  return gives(pselect(silent[0] + 1, &set, NULL, NULL, &span, &mask), 0);
}

static int set_of_events;
static void make_epoll(void) {
  make_silence();
  set_of_events = MUST(epoll_create1(0));
  struct epoll_event in = {.events = EPOLLIN};
  MUST(epoll_ctl(set_of_events, EPOLL_CTL_ADD, silent[0], &in));
}
static int do_epoll_wait(void) {
  struct epoll_event event;
  return gives(epoll_wait(set_of_events, &event, 1, SECONDS * 1000), 0);
}
static int do_epoll_pwait2(void) {
  struct epoll_event event;
  return gives(syscall(SYS_epoll_pwait2, set_of_events, &event, 1, &span, NULL, 8), 0);
}

static int word;
static int do_futex(void) { return fails(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &span, NULL, 0), ETIMEDOUT); }
static int do_futex_until(void) {
  struct timespec end = later(CLOCK_MONOTONIC);
  return fails(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &end, NULL, FUTEX_BITSET_MATCH_ANY), ETIMEDOUT);
}
static int do_futex_waitv(void) {
  struct timespec end = later(CLOCK_MONOTONIC);
  struct futex_waitv one = {.uaddr = (unsigned long)&word, .flags = FUTEX_32};
  return fails(syscall(SYS_futex_waitv, &one, 1, 0, &end, CLOCK_MONOTONIC), ETIMEDOUT);
}

static sem_t semaphore;
static void make_semaphore(void) { MUST(sem_init(&semaphore, 0, 0)); }
static int do_sem_timedwait(void) {
  struct timespec end = later(CLOCK_REALTIME);
  return fails(sem_timedwait(&semaphore, &end), ETIMEDOUT);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int do_condition(void) {
  struct timespec end = later(CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  int result = pthread_cond_timedwait(&condition, &mutex, &end);
  pthread_mutex_unlock(&mutex);
  return result == ETIMEDOUT ? 0 : result ? result : -1;
}
static void take_mutex(void) { pthread_mutex_lock(&taken); }
static int do_mutex(void) {
  struct timespec end = later(CLOCK_REALTIME);
  int result = pthread_mutex_timedlock(&taken, &end);
  return result == ETIMEDOUT ? 0 : result ? result : -1;
}

static int sysv;
static void make_sysv(void) { sysv = MUST(semget(IPC_PRIVATE, 1, 0600)); }
static int do_semtimedop(void) {
  struct sembuf take = {.sem_op = -1};
  return fails(semtimedop(sysv, &take, 1, &span), EAGAIN);
}

static void block_usr1(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
}
static int do_sigtimedwait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return fails(sigtimedwait(&set, NULL, &span), EAGAIN);
}

static void limit_waiting(int fd) {
  struct timeval limit = {.tv_sec = SECONDS};
  MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
  MUST(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
}

static int socket_;
static char bytes[65536];
static void make_listener(void) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socket_ = MUST(socket(AF_INET, SOCK_STREAM, 0));
  MUST(bind(socket_, (struct sockaddr *)&any, sizeof any));
  MUST(listen(socket_, 1));
  limit_waiting(socket_);
}
static int do_accept(void) { return fails(accept(socket_, NULL, NULL), EAGAIN); }

static void make_receiver(void) {
  make_silence();
  limit_waiting(socket_ = silent[0]);
}
static void make_datagram_receiver(void) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socket_ = MUST(socket(AF_INET, SOCK_DGRAM, 0));
  MUST(bind(socket_, (struct sockaddr *)&any, sizeof any));
  limit_waiting(socket_);
}
static void make_tcp_receiver(void) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof any;
  int listener = MUST(socket(AF_INET, SOCK_STREAM, 0));
  MUST(bind(listener, (struct sockaddr *)&any, sizeof any));
  MUST(listen(listener, 1));
  MUST(getsockname(listener, (struct sockaddr *)&any, &length));
  socket_ = MUST(socket(AF_INET, SOCK_STREAM, 0));
  MUST(connect(socket_, (struct sockaddr *)&any, sizeof any));
  MUST(accept(listener, NULL, NULL));
  limit_waiting(socket_);
}
static int do_receive(void) { return fails(recv(socket_, bytes, 1, 0), EAGAIN); }

static void make_full_sender(void) {
  make_receiver();
  while (send(socket_, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
}
static int do_send(void) { return fails(send(socket_, bytes, sizeof bytes, 0), EAGAIN); }

static aio_context_t aio;
static void make_aio(void) { MUST(syscall(SYS_io_setup, 4, &aio)); }
static int do_aio(void) {
  struct io_event event;
  return gives(syscall(SYS_io_getevents, aio, 1, 1, &event, &span), 0);
}

static mqd_t queue;
static void make_queue(void) {
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 64};
  queue = MUST(mq_open("/undisturbed-timed", O_RDWR | O_CREAT, 0600, &attributes));
}
static int do_queue(void) {
  struct timespec end = later(CLOCK_REALTIME);
  return fails(mq_timedreceive(queue, bytes, sizeof bytes, NULL, &end), ETIMEDOUT);
}

/* The same in a thread that is not the first, whose registers CRIU treats in another way. */
static void *thread_sleeps(void *unused) {
  (void)unused;
  over_and_over(do_nanosleep);
  return NULL;
}
static void *thread_polls(void *unused) {
  (void)unused;
  over_and_over(do_poll);
  return NULL;
}
static void in_threads(void) {
  pthread_t one, two;
  make_silence();
  pthread_create(&one, NULL, thread_sleeps, NULL);
  pthread_create(&two, NULL, thread_polls, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}

#define TIMED(function, make, wait) \
  static void function(void) {      \
    make;                           \
    over_and_over(wait);            \
  }
TIMED(sleep_, (void)0, do_sleep)
TIMED(usleep_, (void)0, do_usleep)
TIMED(nanosleep_, (void)0, do_nanosleep)
TIMED(remaining, (void)0, do_remaining)
TIMED(clock_nanosleep_, (void)0, do_clock_nanosleep)
TIMED(boottime, (void)0, do_boottime)
TIMED(until, (void)0, do_until)
TIMED(poll_, make_silence(), do_poll)
TIMED(ppoll_, make_silence(), do_ppoll)
TIMED(select_, make_silence(), do_select)
TIMED(pselect_, make_silence(), do_pselect)
TIMED(epoll_wait_, make_epoll(), do_epoll_wait)
TIMED(epoll_pwait2_, make_epoll(), do_epoll_pwait2)
TIMED(futex, (void)0, do_futex)
TIMED(futex_until, (void)0, do_futex_until)
TIMED(futex_waitv, (void)0, do_futex_waitv)
TIMED(sem_timedwait_, make_semaphore(), do_sem_timedwait)
TIMED(condition_, (void)0, do_condition)
TIMED(mutex_, take_mutex(), do_mutex)
TIMED(semtimedop_, make_sysv(), do_semtimedop)
TIMED(sigtimedwait_, block_usr1(), do_sigtimedwait)
TIMED(accept_, make_listener(), do_accept)
TIMED(receive, make_receiver(), do_receive)
TIMED(receive_udp, make_datagram_receiver(), do_receive)
TIMED(receive_tcp, make_tcp_receiver(), do_receive)
TIMED(send_, make_full_sender(), do_send)
TIMED(aio_, make_aio(), do_aio)
TIMED(queue_, make_queue(), do_queue)

const struct program timed_wait_programs[] = {
    {"sleep", sleep_},
    {"usleep", usleep_},
    {"nanosleep", nanosleep_},
    {"nanosleep-remaining", remaining},
    {"clock-nanosleep", clock_nanosleep_},
    {"clock-nanosleep-boottime", boottime},
    {"clock-nanosleep-until", until},
    {"poll", poll_},
    {"ppoll", ppoll_},
    {"select", select_},
    {"pselect", pselect_},
    {"epoll-wait", epoll_wait_},
    {"epoll-pwait2", epoll_pwait2_},
    {"futex", futex},
    {"futex-until", futex_until},
    {"futex-waitv", futex_waitv},
    {"sem-timedwait", sem_timedwait_},
    {"condition-timedwait", condition_},
    {"mutex-timedlock", mutex_},
    {"semtimedop", semtimedop_},
    {"sigtimedwait", sigtimedwait_},
    {"accept-timeout", accept_},
    {"receive-timeout", receive},
    {"receive-timeout-udp", receive_udp},
    {"receive-timeout-tcp", receive_tcp},
    {"send-timeout", send_},
    {"io-getevents", aio_},
    {"mq-timedreceive", queue_},
    {"waits-in-threads", in_threads},
    {0},
};
