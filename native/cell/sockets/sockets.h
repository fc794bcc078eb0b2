/* Sockets of a frozen cell: what CRIU does not keep of them. Nothing here changes a socket, unless it says so. */
#pragma once

#include <netinet/in.h>

#include "attributes.h"

#define MOST_OPTIONS 128

struct option_value {
  uint8_t bytes[MOST_VALUE];
  uint32_t length; /* 0: there is no such option */
};

/* A socket as the kernel makes it in this network. */
struct fresh {
  int family, type, protocol;
  struct option_value values[MOST_OPTIONS];
};

/* A multicast group that somebody on an interface listens to. */
struct membership {
  int family;
  uint32_t interface;
  uint8_t group[16];
};

/* A descriptor of a process that refers to a socket. */
struct socket {
  int process, number; /* inside */
  int fd;              /* here */
  int family, type, protocol;
};

/* A Unix socket for connections. Its descriptor is open here if connections wait at it. */
struct stream_end {
  struct socket socket;
  unsigned long inode;
};

/* A descriptor of a POSIX message queue. */
struct open_queue {
  unsigned long inode;
  int process, number; /* inside */
};

struct noting {
  FILE *to;
  const struct defaults *defaults;
  pid_t first; /* process of the cell */
  void *seen;  /* inodes of sockets, as a tree */
  struct fresh *fresh;
  size_t fresh_count;
  bool in_network; /* this process has entered the cell's */
  struct membership *memberships;
  size_t membership_count;
  struct doubtful *doubtful;
  size_t doubtful_count;
  void *pipes; /* by inode, as a tree */
  size_t pipe_count;
  bool has_packets; /* some of them keep packets apart */
  struct open_queue *queues;
  size_t queue_count;
  struct stream_end *ends;
  size_t end_count;
};

/* sockets.c */
/* Whether this is the first descriptor that refers to the socket, or to another object without a file. */
bool is_new(struct noting *noting, unsigned long inode);
void note_descriptors(struct noting *noting, pid_t process);
void begin_line(FILE *to, const char *word, const struct socket *socket);
/* What is certain only after the dump. */
void note_doubtful(struct noting *noting);

/* counters.c: NAME is what the link in /proc/PID/fd says. */
void note_counter(const struct noting *noting, pid_t process, int inside, int number, const char *name);

/* datagrams.c */
void note_datagrams(struct noting *noting, const struct socket *socket);
int put_datagram(const struct target *target, const char *value);

/* losses.c */
void note_loss(const struct noting *noting, const struct socket *socket, const char *what);
void note_socket_losses(const struct noting *noting, const struct socket *socket, pid_t process);
/* WATCHER is an inotify descriptor. */
void note_unread_events(const struct noting *noting, const struct socket *watcher);
/* Of datagrams that wait in a Unix socket whose SO_PEEK_OFF is OFFSET. */
void note_senders(const struct noting *noting, const struct socket *socket, int offset);

/* options.c */
void note_options(struct noting *noting, const struct socket *socket);
int put_option(const struct target *target, const char *value);
/* Makes a socket as the kernel makes it; for `note_options`. */
void read_options(int fd, int family, struct option_value values[MOST_OPTIONS]);

/* network/packets.c: has an end of a connection send packets of the size that it did. */
int put_segments(const struct target *target, const char *value);

/* connections.c */
int put_push(const struct target *target, const char *value);
int put_connection(const struct target *target, const char *value);
int put_reset(const struct target *target, const char *value);

/* memberships.c */
/* Reads the groups of the network that PROCESS is in. */
void find_memberships(struct noting *noting, pid_t process);
void note_memberships(struct noting *noting, const struct socket *socket);
int put_membership(const struct target *target, const char *value);

/* netlink.c */
void note_unread_of_kernel(struct noting *noting, const struct socket *socket);
int put_table_again(const struct target *target, const char *value);

/* corked.c */
void note_half_datagram(struct noting *noting, const struct socket *socket);
int put_half_datagram(const struct target *target, const char *value);

/* backlog.c: once all processes are noted. */
void note_backlogs(struct noting *noting);
void keep_end(struct noting *noting, const struct socket *socket, unsigned long inode);
bool has_backlog(int fd);

/* connect.c */
int put_unread(const struct target *target, const char *value);
int put_shut(const struct target *target, const char *value);
int put_queued(const struct target *target, const char *value);
int put_backlog_lost(const struct target *target, const char *value);
