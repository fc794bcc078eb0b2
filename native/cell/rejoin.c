/* Hard links across a seal. When one name of a lower file is changed, OverlayFS copies the file up
 * and remembers in its index that the other names mean the copy, too. A sealed layer has no index:
 * there the other names would show the old content again. So before an upper is sealed, every such
 * name is copied up, which for an indexed file only makes a link. */
#define _GNU_SOURCE
#include "cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An index entry is named for the file handle of the lower file, in hex: five bytes of header and
 * sixteen of the file system's id come before what the file system itself put there. */
#define FID_AT 21

struct wanted {
  char handle[2 * MAX_HANDLE_SZ + 1]; /* what the file system put there, in hex; the first, to be sorted by */
  nlink_t names_found;
};

static struct {
  struct wanted *files;
  size_t count, complete; /* complete: files whose every name was found */
  int root;
  size_t prefix; /* length of the layer's path */
} search;

static int by_handle(const void *left, const void *right) { return strcmp(left, right); }

/* The index counts as one link of the copy: "U-1" is a file whose every name was copied up. */
static bool has_lower_names(const char *path) {
  char text[16] = {0};
  ssize_t length = lgetxattr(path, "trusted.overlay.nlink", text, sizeof text - 1);
  return length > 1 && text[0] == 'U' && atoi(text + 1) >= 0;
}

static void collect(const char *index) {
  DIR *directory = opendir(index);
  if (!directory && errno == ENOENT) return;
  if (!directory) die("opendir", index);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_type != DT_REG) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", index, entry->d_name);
    if (!has_lower_names(path)) continue;
    search.files = realloc(search.files, (search.count + 1) * sizeof *search.files);
    if (!search.files) die("realloc", "files");
    struct wanted *file = &search.files[search.count++];
    *file = (struct wanted){0};
    if (strlen(entry->d_name) <= 2 * FID_AT) die_usage("not an index entry", path);
    snprintf(file->handle, sizeof file->handle, "%s", entry->d_name + 2 * FID_AT);
  }
  closedir(directory);
  if (search.count) qsort(search.files, search.count, sizeof *search.files, by_handle);
}

/* Setting the mode that it has is the least change that copies a file up. */
static void copy_up(const char *path) {
  struct open_how how = {
      .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
  };
  int fd = (int)syscall(SYS_openat2, search.root, path, &how, sizeof how);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return;
  if (fd < 0) die("openat2", path);
  struct stat info;
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  if (fstat(fd, &info)) die("fstat", path);
  if (S_ISREG(info.st_mode) && chmod(own, info.st_mode & 07777)) die("chmod", path);
  close(fd);
}

/* Layers are on several file systems, where the same inode number means different files; a handle
 * has a generation besides, drawn at random. */
static struct wanted *find_wanted(const char *path) {
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } own = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
  int mount;
  if (name_to_handle_at(AT_FDCWD, path, &own.handle, &mount, 0)) return NULL;
  char text[2 * MAX_HANDLE_SZ + 1] = "";
  for (unsigned i = 0; i < own.handle.handle_bytes; i++)
    snprintf(text + 2 * i, 3, "%02x", own.handle.f_handle[i]);
  return bsearch(text, search.files, search.count, sizeof *search.files, by_handle);
}

/* All names of a file are in one layer, and there are as many as it has links. */
static int visit(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)walk;
  struct wanted *file = type == FTW_F && info->st_nlink > 1 ? find_wanted(path) : NULL;
  if (!file) return 0;
  copy_up(path + search.prefix);
  if (++file->names_found == info->st_nlink) search.complete++;
  return search.complete == search.count;
}

void rejoin_links(const char *pid, const char *index, char **layers) {
  collect(index);
  if (!search.count) return;
  char root[64];
  snprintf(root, sizeof root, "/proc/%d/root", atoi(pid));
  search.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (search.root < 0) die("open", root);
  for (; *layers && search.complete < search.count; layers++) {
    search.prefix = strcmp(*layers, "/") ? strlen(*layers) : 0;
    if (nftw(*layers, visit, 64, FTW_PHYS | FTW_MOUNT) < 0) die("nftw", *layers);
  }
}
