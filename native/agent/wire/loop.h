/* The single-threaded event loop: file descriptors, relative timers, and work
 * that was put off to the end of the current turn. */
#pragma once

#include <stdint.h>
#include <sys/epoll.h>

#include "list.h"

struct source {
	int fd;          /* -1 when not owned */
	uint32_t events; /* what epoll watches for, 0 when not registered */
	void (*ready)(struct source *source, uint32_t events);
};

/* An unwatched source; `ready` is called once events are asked for. */
void source_init(struct source *source, int fd, void (*ready)(struct source *, uint32_t));

/* Changes what is watched for; 0 takes the fd out of epoll, which also silences
 * the HUP and ERR that epoll always reports. 0, or -1 with errno. */
int source_watch(struct source *source, uint32_t events);

/* Out of epoll, then closed. Events already fetched for it are discarded. */
void source_close(struct source *source);

/* A timer that counts from now, on a timerfd of its own: CRIU keeps a timerfd's
 * remaining time, while a deadline held in memory would mean another moment
 * after a restore on a rebooted host. */
struct timer {
	struct source source;
	void (*expired)(struct timer *timer);
};

void timer_init(struct timer *timer, void (*expired)(struct timer *));
int timer_start(struct timer *timer, int64_t milliseconds);
void timer_stop(struct timer *timer);

/* One piece of work to run at the end of this turn. */
struct task {
	struct list link;
	void (*run)(struct task *task);
};

void task_init(struct task *task, void (*run)(struct task *));
void task_schedule(struct task *task);
void task_cancel(struct task *task);

int loop_open(void);
/* Runs for ever; returns only when epoll itself fails, with errno. */
int loop_run(void);

/* Microseconds this agent has lived, not counting the time it lay in a snapshot. */
int64_t agent_clock_us(void);
