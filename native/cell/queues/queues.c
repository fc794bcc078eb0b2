/* POSIX message queues. CRIU restores descriptors of them (see preload/objects/queues.c). Here is the rest: queues that
 * nobody has open, and what is in all of them. To receive a message and send it again would not be the same, because a
 * program may have asked to be told about the next one. So messages are read in the kernel's memory.
 *
 *   queue 1 1 NAME STATE MOST-MESSAGES MOST-BYTES MODE USER GROUP PRIORITY:MESSAGE…
 *
 * NAME and MESSAGE are hexadecimal, USER and GROUP as inside. STATE is "named", "deleted", or "lost" if its messages
 * could not be read. */
#define _GNU_SOURCE
#include "queues.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <mqueue.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "kernel.h"
#include "report.h"
#include "shared/owned.h"

#define MQUEUE_MAGIC 0x19800202
#define MOST_MESSAGES 65536
#define MOST_BYTES (1 << 24)
#define DEEPEST 64
#define PAGE 4096

/* A message is in pieces of a page, each with a head. */
static bool read_message(struct kernel *kernel, uint64_t message, char *bytes, size_t length) {
  long head = size_of_type(types_of(kernel), "msg_msg");
  uint64_t piece = message, next = read_pointer(kernel, message, "msg_msg", "next");
  if (head <= 0) return false;
  for (size_t at = 0; at < length;) {
    size_t size = PAGE - (size_t)head;
    if (size > length - at) size = length - at;
    if (!piece || !read_kernel(kernel, piece + (uint64_t)head, bytes + at, size)) return false;
    at += size;
    piece = next;
    head = sizeof next;
    if (piece && !read_kernel(kernel, piece, &next, sizeof next)) return false;
  }
  return true;
}

static bool print_message(FILE *to, struct kernel *kernel, uint64_t message) {
  uint64_t priority, length;
  if (!read_number_at(kernel, message, "msg_msg", "m_type", 8, &priority) ||
      !read_number_at(kernel, message, "msg_msg", "m_ts", 8, &length) || length > MOST_BYTES)
    return false;
  autofree char *bytes = malloc(length + 1);
  if (!bytes || !read_message(kernel, message, bytes, length)) return false;
  fprintf(to, " %lu:", priority);
  print_hex(to, bytes, length);
  return true;
}

/* A node has the messages of one priority. */
static bool print_node(FILE *to, struct kernel *kernel, uint64_t node, int depth, uint64_t *count) {
  long list = find_member(types_of(kernel), "posix_msg_tree_node", "msg_list");
  long in_list = find_member(types_of(kernel), "msg_msg", "m_list");
  uint64_t left, right, at;
  if (!node) return true;
  if (depth == DEEPEST || list < 0 || in_list < 0) return false;
  if (!read_number_at(kernel, node, "rb_node", "rb_left", 8, &left) ||
      !read_number_at(kernel, node, "rb_node", "rb_right", 8, &right))
    return false;
  uint64_t head = node + (uint64_t)list;
  for (at = head; read_kernel(kernel, at, &at, sizeof at) && at != head; ++*count)
    if (*count > MOST_MESSAGES || !print_message(to, kernel, at - (uint64_t)in_list)) return false;
  return at == head && print_node(to, kernel, left, depth + 1, count) &&
         print_node(to, kernel, right, depth + 1, count);
}

static bool print_messages(FILE *to, int fd, uint64_t expected) {
  struct kernel *kernel = require_kernel();
  uint64_t inode = kernel ? address_of_inode(kernel, fd) : 0, node, count = 0;
  long at = inode ? find_member(types_of(kernel), "mqueue_inode_info", "vfs_inode") : -1;
  if (at < 0 || !read_number_at(kernel, inode - (uint64_t)at, "mqueue_inode_info", "msg_tree", 8, &node)) return false;
  return print_node(to, kernel, node, 0, &count) && count == expected;
}

static unsigned long id_inside(const struct noting *noting, const char *map, unsigned long id) {
  char path[64];
  unsigned long first, outside, count, inside = 65534;
  snprintf(path, sizeof path, "/proc/%d/%s", noting->first, map);
  FILE *file = fopen(path, "re");
  while (file && fscanf(file, "%lu %lu %lu", &first, &outside, &count) == 3)
    if (id >= outside && id - outside < count) inside = first + id - outside;
  if (file) fclose(file);
  return inside;
}

static void note_it(struct noting *noting, int fd, const struct stat *is, const char *name) {
  struct mq_attr attributes;
  autofree char *text = NULL;
  size_t length;
  if (mq_getattr(fd, &attributes)) die("mq_getattr of '%s'", name);
  FILE *messages = require_memory(open_memstream(&text, &length));
  bool is_read = !attributes.mq_curmsgs || print_messages(messages, fd, (uint64_t)attributes.mq_curmsgs);
  if (fclose(messages)) die("write to memory");
  fputs("queue 1 1 ", noting->to);
  print_hex(noting->to, name, strlen(name));
  fprintf(noting->to, " %s %ld %ld %o %lu %lu%s\n", is_read ? is->st_nlink ? "named" : "deleted" : "lost",
          attributes.mq_maxmsg, attributes.mq_msgsize, is->st_mode & 07777, id_inside(noting, "uid_map", is->st_uid),
          id_inside(noting, "gid_map", is->st_gid), is_read ? text : "");
  note_notification(noting, fd, is->st_ino, name);
}

static bool is_queue(int fd) {
  struct statfs system;
  return !fstatfs(fd, &system) && system.f_type == MQUEUE_MAGIC;
}

void note_queue(struct noting *noting, int fd, int inside, int number) {
  struct stat is;
  char name[64];
  if (!is_queue(fd) || fstat(fd, &is)) return;
  keep_queue(noting, is.st_ino, inside, number);
  if (is.st_nlink || !is_new(noting, is.st_ino)) return;
  snprintf(name, sizeof name, "forkpoint-%lu", (unsigned long)is.st_ino); /* see preload/objects/queues.c */
  note_it(noting, fd, &is, name);
}

/* A mount that nobody sees. */
static int mount_queues(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/ipc", process);
  autoclose int namespace = open(path, O_RDONLY | O_CLOEXEC);
  if (namespace < 0 || setns(namespace, CLONE_NEWIPC)) die("setns to '%s'", path);
  autoclose int system = (int)syscall(SYS_fsopen, "mqueue", FSOPEN_CLOEXEC);
  if (system < 0) return -1; /* a kernel without queues */
  if (syscall(SYS_fsconfig, system, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) die("fsconfig of mqueue");
  int mount = (int)syscall(SYS_fsmount, system, FSMOUNT_CLOEXEC, 0);
  if (mount < 0) die("fsmount of mqueue");
  return mount;
}

void note_named_queues(struct noting *noting, pid_t process) {
  struct stat is;
  int mount = mount_queues(process); /* stays open: closing it takes long, and the cell stands still */
  autoclose int list = mount < 0 ? -1 : openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *queues = list < 0 ? NULL : fdopendir(list);
  if (!queues) return;
  for (struct dirent *entry; (entry = readdir(queues));) {
    if (entry->d_type != DT_REG) continue;
    autoclose int fd = openat(list, entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &is)) die("open queue '%s'", entry->d_name);
    note_it(noting, fd, &is, entry->d_name);
  }
  closedir(queues);
  list = -1;
}
