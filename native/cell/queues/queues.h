#pragma once

#include "sockets.h"

/* FD is open here; it is descriptor NUMBER of the process INSIDE. Does nothing if it is no POSIX message queue. */
void note_queue(struct noting *noting, int fd, int inside, int number);
/* Those that have a name in the namespace of PROCESS. */
void note_named_queues(struct noting *noting, pid_t process);
/* notify.c */
void keep_queue(struct noting *noting, unsigned long inode, int process, int number);
/* FD is the queue, open here. */
void note_notification(struct noting *noting, int fd, unsigned long inode, const char *name);
int put_notification(const struct target *target, const char *value);
/* fill-queues.c */
int put_queue(const struct target *target, const char *value);
