/* Keeps hard links together when an upper directory is sealed. When a file of a lower layer is changed through one of
 * its names, OverlayFS copies it up and notes in its index that the other names mean the copy, too. A sealed layer has
 * no index, so there the other names would show the old content again. So before the seal, every such name is copied
 * up, which only makes a link if the file is in the index. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"
#include "spec.h"
#include "view.h"

/* The name of an index entry is the file handle of the lower file in hex: five bytes of header, sixteen bytes of the
 * file system's id, and then the file system's own part. */
#define FID_AT 21

struct wanted {
  char handle[2 * MAX_HANDLE_SZ + 1]; /* the file system's own part in hex; first, so that by_handle finds it */
  nlink_t names_found;
};

static struct {
  struct wanted *files;
  size_t count, complete; /* complete: files of which every name was found */
  int root;               /* of the cell */
  dev_t device;           /* of the layer: anything mounted in it belongs to no layer */
  struct path path;       /* from the layer's root, of the current entry */
} search;

static int by_handle(const void *left, const void *right) { return strcmp(left, right); }

/* The index itself counts as a link of the copy, so "U-1" means that every name was copied up. */
static bool has_lower_names(const char *path) {
  char text[16] = {0};
  ssize_t length = lgetxattr(path, "trusted.overlay.nlink", text, sizeof text - 1);
  return length > 1 && text[0] == 'U' && atoi(text + 1) >= 0;
}

static void collect(const char *index) {
  DIR *directory = opendir(index);
  if (!directory && errno == ENOENT) return;
  if (!directory) die("opendir '%s'", index);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_type != DT_REG) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", index, entry->d_name);
    if (!has_lower_names(path)) continue;
    search.files = require_memory(realloc(search.files, (search.count + 1) * sizeof *search.files));
    struct wanted *file = &search.files[search.count++];
    *file = (struct wanted){0};
    if (strlen(entry->d_name) <= 2 * FID_AT) die_because("'%s' is not an index entry", path);
    snprintf(file->handle, sizeof file->handle, "%s", entry->d_name + 2 * FID_AT);
  }
  closedir(directory);
  if (search.count) qsort(search.files, search.count, sizeof *search.files, by_handle);
}

/* Setting the mode that a file already has is the smallest change that copies it up. The name is resolved step by
 * step and through no symbolic link, because the cell may have put one there since. */
static void copy_up(int directory, const char *name) {
  int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return;
  if (fd < 0) die("open '%s'", name);
  struct stat info;
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  if (fstat(fd, &info)) die("fstat '%s'", name);
  if (S_ISREG(info.st_mode) && chmod(own, info.st_mode & 07777)) die("chmod '%s'", name);
  close(fd);
}

static void copy_up_in_cell(const char *name) {
  int directory = open_below(search.root, search.path.text ? search.path.text : "");
  if (directory < 0) {
    if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) die("open '%s'", name);
    return;
  }
  copy_up(directory, name);
  close(directory);
}

/* Inode numbers are not enough: layers are on several file systems. A handle also has a random generation number. */
static struct wanted *find_wanted(int directory, const char *name) {
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } own = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
  int mount;
  if (name_to_handle_at(directory, name, &own.handle, &mount, 0)) return NULL;
  char text[2 * MAX_HANDLE_SZ + 1] = "";
  for (unsigned i = 0; i < own.handle.handle_bytes; i++) snprintf(text + 2 * i, 3, "%02x", own.handle.f_handle[i]);
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

/* All names of a file are in one layer, and their number is its link count. */
static void visit(int parent, const char *name, size_t depth) {
  struct stat info;
  if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) || info.st_dev != search.device) return;
  if (S_ISDIR(info.st_mode)) return visit_below(parent, name, depth + 1);
  struct wanted *file = S_ISREG(info.st_mode) && info.st_nlink > 1 ? find_wanted(parent, name) : NULL;
  if (!file) return;
  copy_up_in_cell(name);
  if (++file->names_found == info.st_nlink) search.complete++;
}

/* Reads all names before it visits them, which takes memory forevery level; but deep trees rarely have large
 * directories. */
static void visit_directory(int fd, size_t depth) {
  if (depth == DEEPEST) die_because(TOO_DEEP, search.path.text);
  int own = dup(fd);
  DIR *stream = own < 0 ? NULL : fdopendir(own);
  if (!stream) die_open(search.path.text ? search.path.text : "");
  char *names = NULL;
  size_t length = 0, capacity = 0;
  for (struct dirent *entry; (entry = readdir(stream));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    size_t added = strlen(entry->d_name) + 1;
    if (length + added > capacity) names = require_memory(realloc(names, capacity = 2 * (length + added)));
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
  if (fd < 0) die("open '%s'", layer);
  if (fstat(fd, &info)) die("fstat '%s'", layer);
  search.device = info.st_dev;
  visit_directory(fd, 0);
}

void verb_rejoin(char **words) {
  char **layers = words + 2;
  collect(words[1]);
  if (!search.count) return;
  char root[64];
  snprintf(root, sizeof root, "/proc/%d/root", parse_pid(words[0]));
  search.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (search.root < 0) die("open '%s'", root);
  allow_deep_trees();
  for (; *layers && search.complete < search.count; layers++) visit_layer(*layers);
}
