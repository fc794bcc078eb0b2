/* Objects that CRIU cannot dump, or restores as something else. A dump notes what the surgery on the images has to know
 * (see src/criu/images/noted/notes.ts), and shows CRIU something that it can dump. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define FILE_OF_SOCKET 0x89E0 /* SIOCUNIXFILE */

/* notes.c: where CRIU writes its images. */
void note_images(int directory);
/* Adds a line, which ends with NUL, to noted.img. False if that failed: then the dump must fail. */
bool note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* CRIU does not see something that `cell waits` must have noted. The same. */
bool note_hidden(void);

/* described.c: CRIU asks what the descriptor FD is. */
struct stat;
void note_asked(int fd, const struct stat *is);
/* CRIU has opened what /proc/PID, the directory PROCESS, says about that descriptor. */
void note_description(int process, int fd);
int described_process(void);
/* The user or group as inside. MAP is a file in /proc/PID that translates them. */
bool id_inside(const char *map, uint32_t id, uint32_t *inside);
/* The descriptor, if it is a POSIX message queue; -1 if not. */
int asked_queue(struct stat *is);
/* Changes what CRIU has read of that. Returns its length. */
size_t change_description(int fd, char *text, size_t length, size_t room);
/* queues.c: what CRIU sees as the target of the link PATH, if that leads to a POSIX message queue; 0 if not. */
ssize_t shown_name_of_queue(const char *path, char *target, size_t size);
/* Opens what PATH stands for, if that is a queue; -ENOTSUP if not. */
long open_queue(const char *path, int flags);

/* pipes.c */
unsigned long shown_flags_of_pipe(unsigned long inode, unsigned long flags);

/* socket-names.c: the file of a bound Unix socket, or -errno. */
long file_of_socket(int socket);
/* What CRIU sees as the target of the link PATH, if that is the file of the latest socket; 0 if it is not. */
ssize_t shown_name_of_socket(const char *path, char *target, size_t size);

/* waiting-connections.c: changes what the kernel tells about Unix sockets. */
struct msghdr;
void show_connections_as_empty(void *bytes, size_t length, const struct msghdr *message);

/* credentials.c: what CRIU gets for a message of LENGTH bytes that it looks at. */
long show_sender_as_bytes(int fd, struct msghdr *message, long length);
/* Sends what CRIU got in that way; 0 if it did not. */
long send_as_sender(int fd, const struct msghdr *message, int flags);

/* semaphores.c */
#define SEMAPHORE_MARK 040000 /* O_DIRECT; also in src/criu/images/noted/counters.ts */
bool is_event_counter(int fd);
/* 0, or -errno */
long become_semaphore(int fd);

/* seals.c: CRIU reads the areas of the process whose directory in /proc is PROCESS from FD. */
void note_areas(int fd, int process);
/* Looks at what it has read. False if something was found and could not be noted. */
bool find_seals(int fd, const char *bytes, size_t count);

/* lost-names.c: the times of the directory that PATH is in, while something is made or deleted there. */
struct kept_times {
  long directory;
  struct timespec times[2];
};
struct kept_times keep_times(int from, const char *path);
void put_times_back(const struct kept_times *kept);
/* Deletes a name that was made for an open file. 0, or -errno. */
long delete_link(int from, const char *path);

/* numbers.c: the number that a process has inside; 0 if it has ended. */
int number_inside(pid_t pid);
