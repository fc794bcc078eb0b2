/* Hard links across a seal. When one name of a lower file is changed, OverlayFS copies the file up
 * and remembers in its index that the other names mean the copy, too. A sealed layer has no index:
 * there the other names would show the old content again. So before an upper is sealed, every such
 * name is copied up, which for an indexed file only makes a link. */
#define _GNU_SOURCE
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
  int root;         /* of the cell */
  dev_t device;     /* of the layer: what is mounted in it belongs to no layer */
  struct path path; /* from the layer's root, of what is looked at */
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

/* Setting the mode that it has is the least change that copies a file up. The name is looked for step
 * by step, through no symbolic link: the cell may have put one there since. */
static void copy_up(int directory, const char *name) {
  int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return;
  if (fd < 0) die("open", name);
  struct stat info;
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  if (fstat(fd, &info)) die("fstat", name);
  if (S_ISREG(info.st_mode) && chmod(own, info.st_mode & 07777)) die("chmod", name);
  close(fd);
}

static void copy_up_in_cell(const char *name) {
  int directory = open_below(search.root, search.path.text ? search.path.text : "");
  if (directory < 0) {
    if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) die("open", name);
    return;
  }
  copy_up(directory, name);
  close(directory);
}

/* Layers are on several file systems, where the same inode number means different files; a handle
 * has a generation besides, drawn at random. */
static struct wanted *find_wanted(int directory, const char *name) {
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } own = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
  int mount;
  if (name_to_handle_at(directory, name, &own.handle, &mount, 0)) return NULL;
  char text[2 * MAX_HANDLE_SZ + 1] = "";
  for (unsigned i = 0; i < own.handle.handle_bytes; i++)
    snprintf(text + 2 * i, 3, "%02x", own.handle.f_handle[i]);
  return bsearch(text, search.files, search.count, sizeof *search.files, by_handle);
}

static void visit_directory(int fd, size_t depth);

static void visit_below(int parent, const char *name, size_t depth) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return;
  if (fd < 0) die_open(name);
  size_t length = append_name(&search.path, name);
  visit_directory(fd, depth);
  cut_path(&search.path, length);
}

/* All names of a file are in one layer, and there are as many as it has links. */
static void visit(int parent, const char *name, size_t depth) {
  struct stat info;
  if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) || info.st_dev != search.device) return;
  if (S_ISDIR(info.st_mode)) return visit_below(parent, name, depth + 1);
  struct wanted *file = S_ISREG(info.st_mode) && info.st_nlink > 1 ? find_wanted(parent, name) : NULL;
  if (!file) return;
  copy_up_in_cell(name);
  if (++file->names_found == info.st_nlink) search.complete++;
}

/* Its names first, and then the entries: a tree is deep, or a directory large, but seldom both. */
static void visit_directory(int fd, size_t depth) {
  if (depth == DEEPEST) die_usage("a tree is too deep to be read", search.path.text);
  int own = dup(fd);
  DIR *stream = own < 0 ? NULL : fdopendir(own);
  if (!stream) die("fdopendir", "layer");
  char *names = NULL;
  size_t length = 0, capacity = 0;
  for (struct dirent *entry; (entry = readdir(stream));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    size_t added = strlen(entry->d_name) + 1;
    if (length + added > capacity) names = realloc(names, capacity = 2 * (length + added));
    if (!names) die("realloc", "names");
    memcpy(names + length, entry->d_name, added);
    length += added;
  }
  closedir(stream);
  for (const char *name = names; name < names + length; name += strlen(name) + 1) {
    if (search.complete == search.count) break;
    visit(fd, name, depth);
  }
  free(names);
  close(fd);
}

static void visit_layer(const char *layer) {
  struct stat info;
  int fd = open(layer, O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &info)) die("open", layer);
  search.device = info.st_dev;
  visit_directory(fd, 0);
}

void rejoin_links(const char *pid, const char *index, char **layers) {
  collect(index);
  if (!search.count) return;
  char root[64];
  snprintf(root, sizeof root, "/proc/%d/root", atoi(pid));
  search.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (search.root < 0) die("open", root);
  allow_deep_trees();
  for (; *layers && search.complete < search.count; layers++) visit_layer(*layers);
}
