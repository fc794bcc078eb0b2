/* The single-threaded event loop: descriptors, relative timers, and work that is put off to the end of the current
 * turn. */
#pragma once

#include <stdint.h>
#include <sys/epoll.h>

#include "list.h"
#include "shared/error.h"

struct source {
  int fd;          /* -1 when not owned */
  uint32_t events; /* what epoll watches for, 0 when not registered */
  void (*ready)(struct source *source, uint32_t events);
};

/* Initializes a source that is not watched yet. */
void source_init(struct source *source, int fd, void (*ready)(struct source *, uint32_t));

/* Changes the events that are watched for. 0 takes the descriptor out of epoll, and so silences HUP and ERR, which
 * epoll always reports. 0, or -1 with errno. */
int source_watch(struct source *source, uint32_t events);

/* Takes the descriptor out of epoll and closes it. Events that were already fetched for it are discarded. */
void source_close(struct source *source);

/* A timer that counts from now, on a timerfd of its own. CRIU keeps the remaining time of a timerfd, while a deadline
 * in memory would mean another moment after a restore on a rebooted host. */
struct timer {
  struct source source;
  void (*expired)(struct timer *timer);
};

void timer_init(struct timer *timer, void (*expired)(struct timer *));
int timer_start(struct timer *timer, int64_t milliseconds); /* 0, or -1 with errno */
void timer_stop(struct timer *timer);

/* Work that runs at the end of the current turn. */
struct task {
  struct list link;
  void (*run)(struct task *task);
};

void task_init(struct task *task, void (*run)(struct task *));
void task_schedule(struct task *task);
void task_cancel(struct task *task);

/* 0, or -1 with an error. */
int loop_open(struct error *error);
/* Returns only if epoll itself fails. -1 with an error. */
int loop_run(struct error *error);

/* Microseconds for which this agent has run, without the time that it spent in snapshots. */
int64_t agent_clock_us(void);
