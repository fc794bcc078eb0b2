#define _GNU_SOURCE
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BATCH 64

/* So long that the clock timer never fires, and short enough for the kernel's 64-bit nanoseconds. */
#define CLOCK_SECONDS (50LL * 365 * 86400)

static int epoll_fd = -1;
static int clock_fd = -1;
static struct epoll_event batch[BATCH];
static int batch_length;
static struct list tasks = LIST_INIT(tasks);

void source_init(struct source *source, int fd, void (*ready)(struct source *, uint32_t)) {
  source->fd = fd;
  source->events = 0;
  source->ready = ready;
}

static void forget_fetched_events(struct source *source) {
  for (int i = 0; i < batch_length; i++)
    if (batch[i].data.ptr == source) batch[i].data.ptr = NULL;
}

int source_watch(struct source *source, uint32_t events) {
  if (source->fd < 0 || source->events == events) return 0;
  struct epoll_event event = {.events = events, .data.ptr = source};
  int how = !events ? EPOLL_CTL_DEL : source->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_fd, how, source->fd, &event) < 0) return -1;
  if (!events) forget_fetched_events(source);
  source->events = events;
  return 0;
}

void source_close(struct source *source) {
  if (source->fd < 0) return;
  /* Taken out before close: a forked child may still have it open, and then epoll would keep reporting a descriptor
   * that CRIU cannot find. */
  source_watch(source, 0);
  close(source->fd);
  source->fd = -1;
}

static void timer_ready(struct source *source, uint32_t events) {
  struct timer *timer = container_of(source, struct timer, source);
  uint64_t expirations;
  (void)events;
  if (read(source->fd, &expirations, sizeof expirations) != sizeof expirations) return;
  timer_stop(timer);
  timer->expired(timer);
}

void timer_init(struct timer *timer, void (*expired)(struct timer *)) {
  source_init(&timer->source, -1, timer_ready);
  timer->expired = expired;
}

int timer_start(struct timer *timer, int64_t milliseconds) {
  if (timer->source.fd < 0) {
    timer->source.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer->source.fd < 0) return -1;
  }
  if (milliseconds < 1) milliseconds = 1;
  if (milliseconds > CLOCK_SECONDS * 1000) milliseconds = CLOCK_SECONDS * 1000;
  struct itimerspec when = {
      .it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000},
  };
  if (timerfd_settime(timer->source.fd, 0, &when, NULL) < 0 || source_watch(&timer->source, EPOLLIN) < 0) {
    int failure = errno;
    timer_stop(timer);
    errno = failure;
    return -1;
  }
  return 0;
}

void timer_stop(struct timer *timer) { source_close(&timer->source); }

void task_init(struct task *task, void (*run)(struct task *)) {
  list_init(&task->link);
  task->run = run;
}

void task_schedule(struct task *task) {
  if (list_empty(&task->link)) list_append(&tasks, &task->link);
}

void task_cancel(struct task *task) { list_remove(&task->link); }

/* Runs what is scheduled now. Work that is scheduled meanwhile waits for the next turn, so that descriptors are served
 * in between. */
static void run_tasks(void) {
  struct list now = LIST_INIT(now);
  list_splice(&now, &tasks);
  while (!list_empty(&now)) {
    struct task *task = container_of(now.next, struct task, link);
    list_remove(&task->link);
    task->run(task);
  }
}

static int open_clock(struct error *error) {
  struct itimerspec start = {.it_value = {.tv_sec = CLOCK_SECONDS}};
  clock_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (clock_fd < 0) return error_set(error, errno, "timerfd_create");
  if (timerfd_settime(clock_fd, 0, &start, NULL) < 0) return error_set(error, errno, "timerfd_settime");
  return 0;
}

int64_t agent_clock_us(void) {
  struct itimerspec left;
  if (timerfd_gettime(clock_fd, &left) < 0) return 0;
  return (CLOCK_SECONDS - left.it_value.tv_sec) * 1000000 - left.it_value.tv_nsec / 1000;
}

int loop_open(struct error *error) {
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  return epoll_fd < 0 ? error_set(error, errno, "epoll_create1") : open_clock(error);
}

int loop_run(struct error *error) {
  for (;;) {
    batch_length = epoll_wait(epoll_fd, batch, BATCH, list_empty(&tasks) ? -1 : 0);
    if (batch_length < 0) {
      batch_length = 0;
      if (errno != EINTR) return error_set(error, errno, "epoll_wait");
    }
    for (int i = 0; i < batch_length; i++) {
      struct source *source = batch[i].data.ptr;
      if (source) source->ready(source, batch[i].events);
    }
    batch_length = 0;
    run_tasks();
  }
}
