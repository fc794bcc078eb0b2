/* The rules of OverlayFS for one name in a directory, from the topmost layer down:
 *
 *   nothing           look in the next layer
 *   whiteout          the name does not exist, whatever is below
 *   not a directory   this is the entry; if directories were found above it, they do not merge with anything below
 *   directory         merges with those below, unless it is opaque
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"
#include "view.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC)

/* A clone of the mount, without mounts on top of it: an overlay does not see those either. */
int open_layer(const char *path) {
  int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0) die("open_tree '%s'", path);
  int directory = openat(fd, ".", DIRECTORY);
  if (directory < 0) die("openat '%s'", path);
  close(fd);
  return directory;
}

const char *layer_path(const char *layer, bool *host_ids) {
  *host_ids = !strncmp(layer, "host:", 5);
  if (!*host_ids && strncmp(layer, "cell:", 5)) die_because("layer '%s' is not host:PATH or cell:PATH", layer);
  return layer + 5;
}

static struct merged *new_merged(size_t capacity, size_t depth) {
  struct merged *directory = require_memory(malloc(sizeof *directory + capacity * sizeof *directory->parts));
  directory->count = 0;
  directory->depth = depth;
  directory->closed = false;
  return directory;
}

struct merged *merge_layers(char **layers, size_t count) {
  struct merged *root = new_merged(count, 0);
  for (size_t i = 0; i < count; i++) {
    bool host_ids;
    root->parts[i] = (struct part){(int)i, open_layer(layer_path(layers[i], &host_ids))};
  }
  root->count = count;
  return root;
}

void release(struct merged *directory) {
  if (!directory) return;
  for (size_t i = 0; i < directory->count; i++) close(directory->parts[i].fd);
  free(directory);
}

bool is_opaque(int directory) {
  char value;
  return fgetxattr(directory, "trusted.overlay.opaque", &value, 1) == 1 && value == 'y';
}

bool is_whiteout(const struct statx *info) {
  return S_ISCHR(info->stx_mode) && !info->stx_rdev_major && !info->stx_rdev_minor;
}

/* A name that no file system could hold is absent, too. */
static bool means_absent(int error) { return error == ENOENT || error == ENAMETOOLONG || error == ESTALE; }

bool stat_name(int directory, const char *name, struct statx *info) {
  if (!statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, info)) return true;
  if (!means_absent(errno)) die("statx '%s'", name);
  return false;
}

bool find_name(const struct merged *directory, const char *name, struct found *found) {
  for (size_t i = 0; i < directory->count; i++) {
    if (!stat_name(directory->parts[i].fd, name, &found->stat)) continue;
    if (is_whiteout(&found->stat)) return false;
    found->parent = directory;
    found->in = directory->parts[i];
    found->name = name;
    return true;
  }
  return false;
}

struct merged *descend(const struct merged *directory, const char *name) {
  if (directory->depth == DEEPEST) die_because(TOO_DEEP, name);
  struct merged *below = new_merged(directory->count, directory->depth + 1);
  below->closed = directory->closed;
  for (size_t i = 0; i < directory->count; i++) {
    int fd = openat(directory->parts[i].fd, name, DIRECTORY);
    if (fd < 0 && means_absent(errno)) continue;
    bool ends = fd < 0 ? errno == ENOTDIR || errno == ELOOP : is_opaque(fd);
    if (fd < 0 && !ends) die_open(name);
    if (fd >= 0) below->parts[below->count++] = (struct part){directory->parts[i].layer, fd};
    if (ends) {
      below->closed = true;
      break;
    }
  }
  if (below->count) return below;
  free(below);
  return NULL;
}

struct name {
  char *text;
  size_t part; /* index of the part that has it; 0 is topmost */
};

/* Limits to the memory that a sandbox can make the host use for one directory. */
#define MOST_NAMES 2000000
#define MOST_NAME_BYTES (128 << 20)

struct names {
  size_t count, capacity, bytes;
  struct name *list;
};

static void add_names(struct names *names, int fd, size_t part) {
  int own = openat(fd, ".", DIRECTORY); /* with a position of its own */
  DIR *stream = own < 0 ? NULL : fdopendir(own);
  if (!stream) die_open("a directory of a layer");
  for (struct dirent *entry; (entry = readdir(stream));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (names->count == names->capacity) {
      names->capacity = names->capacity ? names->capacity * 2 : 64;
      names->list = require_memory(realloc(names->list, names->capacity * sizeof *names->list));
    }
    names->bytes += strlen(entry->d_name);
    if (names->count == MOST_NAMES || names->bytes > MOST_NAME_BYTES)
      die_because("a directory has too many entries to read, among them '%s'", entry->d_name);
    names->list[names->count++] = (struct name){require_memory(strdup(entry->d_name)), part};
  }
  closedir(stream);
}

static int by_text_then_part(const void *left, const void *right) {
  const struct name *a = left, *b = right;
  int order = strcmp(a->text, b->text);
  return order ? order : (a->part > b->part) - (a->part < b->part);
}

static void visit_names(const struct merged *directory, bool whiteouts, void (*visit)(const struct found *, void *),
                        void *with) {
  struct names names = {0};
  for (size_t i = 0; i < directory->count; i++) add_names(&names, directory->parts[i].fd, i);
  if (names.count) qsort(names.list, names.count, sizeof *names.list, by_text_then_part);
  for (size_t i = 0; i < names.count; i++) {
    const struct name *name = &names.list[i];
    if (i && !strcmp(name->text, names.list[i - 1].text)) continue;
    struct found found = {directory, directory->parts[name->part], name->text, {0}};
    if (!stat_name(found.in.fd, name->text, &found.stat)) continue;
    if (whiteouts || !is_whiteout(&found.stat)) visit(&found, with);
  }
  for (size_t i = 0; i < names.count; i++) free(names.list[i].text);
  free(names.list);
}

void each_name(const struct merged *directory, void (*visit)(const struct found *, void *), void *with) {
  visit_names(directory, false, visit, with);
}

void each_entry(const struct merged *directory, void (*visit)(const struct found *, void *), void *with) {
  visit_names(directory, true, visit, with);
}
