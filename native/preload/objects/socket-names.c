/* Names of bound Unix sockets. A program binds a socket to one name, and may then rename it, link it, or move the
 * directory it is in. The socket only knows the first name, and CRIU restores it there. So what it is called by now is
 * noted, and if CRIU could not even dump the name, it sees one that it can. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "objects.h"
#include "preload/raw.h"

#define DELETED " (deleted)"

static int shown_file = -1; /* of the latest socket */
static char shown_path[2 * PATH_MAX];

struct bound {
  char name[sizeof(struct sockaddr_un) + 1]; /* as its program gave it */
  char path[PATH_MAX];                       /* as the kernel knows it now */
  bool is_deleted;                           /* it has lost that name, but may have others */
  struct stat socket, file;
};

static bool cut_ending(char *text, const char *ending) {
  size_t length = strlen(text), cut = strlen(ending);
  if (length <= cut || strcmp(text + length - cut, ending)) return false;
  text[length - cut] = 0;
  return true;
}

static bool look_at(int socket, int file, struct bound *bound) {
  struct sockaddr_un address = {0};
  socklen_t length = sizeof address;
  char link[64];
  if (getsockname(socket, (struct sockaddr *)&address, &length)) return false;
  snprintf(bound->name, sizeof bound->name, "%.*s", (int)sizeof address.sun_path, address.sun_path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  long size = raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)bound->path, sizeof bound->path - 1, 0, 0);
  if (size <= 0) return false;
  bound->path[size] = 0;
  bound->is_deleted = cut_ending(bound->path, DELETED);
  return !fstat(socket, &bound->socket) && !fstat(file, &bound->file);
}

/* What CRIU compares: it leaves out a leading dot. */
static const char *without_dot(const char *name) { return strncmp(name, "./", 2) ? name : name + 2; }

static bool leads_to(const struct bound *bound) {
  char root[8];
  int process = described_process();
  if (readlinkat(process, "root", root, sizeof root) != 1) return false; /* it has a root of its own */
  int directory = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
  long fd = raw_syscall(SYS_openat2, directory, (long)bound->name, (long)&how, sizeof how, 0, 0);
  struct stat info;
  bool is_same = fd >= 0 && !fstat((int)fd, &info) && info.st_ino == bound->file.st_ino;
  if (fd >= 0) close((int)fd);
  if (directory >= 0) close(directory);
  return is_same;
}

/* Whether CRIU would find it where it was bound. A name from the root may lead there through links. */
static bool is_in_place(const struct bound *bound) {
  const char *name = without_dot(bound->name);
  size_t path = strlen(bound->path), length = strlen(name);
  if (*name == '/') return !strcmp(name, bound->path) || (!bound->is_deleted && leads_to(bound));
  return path > length && bound->path[path - length - 1] == '/' && !strcmp(bound->path + path - length, name);
}

/* A path that ends with the name it was bound to, in the directory that it is in now. */
static void show_instead(const struct bound *bound) {
  const char *slash = strrchr(bound->path, '/');
  snprintf(shown_path, sizeof shown_path, "%.*s/%s%s", slash ? (int)(slash - bound->path) : 0, bound->path,
           without_dot(bound->name), bound->is_deleted && !bound->file.st_nlink ? DELETED : "");
}

long file_of_socket(int socket) {
  static struct bound bound;
  long file = raw_syscall(SYS_ioctl, socket, FILE_OF_SOCKET, 0, 0, 0, 0);
  shown_file = -1;
  if (file < 0 || !look_at(socket, (int)file, &bound)) return file;
  bool is_in_its_place = is_in_place(&bound), has_one_name = bound.file.st_nlink == !bound.is_deleted;
  if (is_in_its_place && has_one_name) return file;
  bool is_noted =
      !bound.file.st_nlink ||
      note("socket %lu %s %lu %lu %s", (unsigned long)bound.socket.st_ino, bound.is_deleted ? "deleted" : "here",
           (unsigned long)bound.file.st_nlink, (unsigned long)bound.file.st_ino, bound.path);
  if (!is_noted) return close((int)file), -EIO;
  if (is_in_its_place && !bound.is_deleted) return file;
  if (*bound.name == '/') return file;
  show_instead(&bound);
  shown_file = (int)file;
  return file;
}

ssize_t shown_name_of_socket(const char *path, char *buffer, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", shown_file);
  if (shown_file < 0 || strcmp(path, link)) return 0;
  shown_file = -1;
  size_t length = strlen(shown_path);
  if (length > size) length = size;
  memcpy(buffer, shown_path, length);
  return (ssize_t)length;
}
