/* Loaded into CRIU: how it opens the root of the cell and the files that programs watch.
 *
 * A dump opens the root once for each watched file, and a program that watches the root is told. With O_PATH, nobody
 * is. The kernel takes no such descriptor for the file system of a handle, but it takes the working directory.
 *
 * CRIU looks a watched file up by its name. A symbolic link can be watched itself (IN_DONT_FOLLOW), so links are not
 * followed. A file without a name is opened by its handle, which for a changed file says in which subvolume it is. A
 * copy has its own: without it, the watch would be on the original's file, or fail once the original is gone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "calls.h"
#include "raw.h"

/* What CRIU calls the root: relative to /proc/PID, and as a mount point relative to itself. */
static bool is_root(const char *path) { return !strcmp(path, "root") || !strcmp(path, "./"); }

int calm_flags(const char *path, int flags) {
  bool is_only_read = (flags & ~O_DIRECTORY) == O_RDONLY;
  return is_only_read && !restores() && is_root(path) ? O_PATH | O_DIRECTORY : flags;
}

static bool is_in_proc(int directory) {
  struct statfs info;
  return !raw_syscall(SYS_fstatfs, directory, (long)&info, 0, 0, 0, 0) && info.f_type == PROC_SUPER_MAGIC;
}

/* With these flags, CRIU opens what is watched, and in /proc the links of processes. */
int watched_flags(int directory, int flags) {
  return directory >= 0 && flags == O_PATH && !is_in_proc(directory) ? flags | O_NOFOLLOW : flags;
}

#define OVERLAY 0xf8 /* type of a handle of OverlayFS */
#define BTRFS 0x4d   /* type of one of btrfs, without a parent: inode, subvolume, generation */
#define FLAGS_AT 6   /* after three unused bytes, the version, a magic number and the length */
#define TYPE_AT 7
#define SUBVOLUME_AT (8 + 16 + 8) /* after the UUID of the file system and the inode */
#define HANDLE_SIZE (8 + 16 + 20)
#define IS_UPPER 4 /* OVL_FH_FLAG_PATH_UPPER: not a file of a layer */

union overlay_handle {
  struct file_handle head;
  char space[sizeof(struct file_handle) + HANDLE_SIZE];
};

static bool is_in_upper(const struct file_handle *handle) {
  return handle->handle_bytes == HANDLE_SIZE && handle->handle_type == OVERLAY &&
         handle->f_handle[FLAGS_AT] & IS_UPPER && handle->f_handle[TYPE_AT] == BTRFS;
}

/* The same file in the subvolume that MOUNT has. */
static long open_in_copy(int mount, const struct file_handle *handle, int flags) {
  union overlay_handle root = {.head.handle_bytes = HANDLE_SIZE}, own = {.head.handle_bytes = HANDLE_SIZE};
  int id;
  long result = raw_syscall(SYS_name_to_handle_at, mount, (long)"", (long)&root, (long)&id, AT_EMPTY_PATH, 0);
  if (result < 0) return result;
  if (!is_in_upper(&root.head)) return -ESTALE;
  memcpy(&own, handle, sizeof own);
  memcpy(own.head.f_handle + SUBVOLUME_AT, root.head.f_handle + SUBVOLUME_AT, sizeof(uint64_t));
  return raw_syscall(SYS_open_by_handle_at, mount, (long)&own, flags, 0, 0, 0);
}

long open_handle(int mount, const void *handle, int flags) {
  if (restores() && is_in_upper(handle)) return open_in_copy(mount, handle, flags);
  long result = raw_syscall(SYS_open_by_handle_at, mount, (long)handle, flags, 0, 0, 0);
  if (result != -EBADF) return result;
  long before = raw_syscall(SYS_openat, AT_FDCWD, (long)".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
  if (before < 0) return before;
  result = raw_syscall(SYS_fchdir, mount, 0, 0, 0, 0, 0);
  if (!result) result = raw_syscall(SYS_open_by_handle_at, AT_FDCWD, (long)handle, flags, 0, 0, 0);
  long back = raw_syscall(SYS_fchdir, before, 0, 0, 0, 0, 0);
  raw_syscall(SYS_close, before, 0, 0, 0, 0, 0);
  if (back < 0 && result >= 0) raw_syscall(SYS_close, result, 0, 0, 0, 0, 0);
  return back < 0 ? back : result;
}
