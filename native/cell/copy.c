/* Copies files out of the layers into a directory of the host. stdin holds pairs: a
 * path inside, and where it goes below the directory (empty: the directory itself,
 * which takes what is inside the path). Directories come with all below them.
 *
 * Modes, modification times, symbolic links, hard links and holes are kept. Set-id
 * bits are not: a file from a sandbox gives nobody its owner's rights. What has no
 * meaning outside (devices, sockets) is left out.
 *
 * stdout: the paths left out, then an empty one and "ENTRIES BYTES"; each ends with NUL. */
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct copying {
  const struct copy_owner *owner;
  char **layers;
  int root, into;      /* directories of the host: where all goes, where the next entry goes */
  void *links;         /* files with several names, see links.c */
  char path[PATH_MAX]; /* inside, of what is being copied */
  size_t length;
  char place[PATH_MAX]; /* the same, below `root` */
  size_t place_length;
  unsigned long long entries, bytes;
};

static uint32_t outside_id(const struct copying *copying, const struct found *found, uint32_t id) {
  const struct copy_owner *owner = copying->owner;
  bool host_ids;
  layer_path(copying->layers[found->in.layer], &host_ids);
  uint32_t inside = host_ids ? id : id - owner->id_base;
  return inside < owner->id_count ? inside : 65534; /* what the kernel shows for such an id */
}

static void give_owner(const struct copying *copying, const struct found *found, int in, const char *name) {
  uid_t uid = copying->owner->uid;
  gid_t gid = copying->owner->gid;
  if (copying->owner->keep) {
    uid = outside_id(copying, found, found->stat.stx_uid);
    gid = outside_id(copying, found, found->stat.stx_gid);
  }
  if (fchownat(in, name, uid, gid, AT_SYMLINK_NOFOLLOW)) die("chown", copying->path);
}

static void finish_entry(struct copying *copying, const struct found *found, int in, const char *name) {
  copying->entries++;
  give_owner(copying, found, in, name);
  if (!S_ISLNK(found->stat.stx_mode) && fchmodat(in, name, found->stat.stx_mode & 01777, 0))
    die("chmod", copying->path);
  struct timespec times[] = {
      {.tv_nsec = UTIME_OMIT},
      {.tv_sec = found->stat.stx_mtime.tv_sec, .tv_nsec = found->stat.stx_mtime.tv_nsec},
  };
  if (utimensat(in, name, times, AT_SYMLINK_NOFOLLOW)) die("utimensat", copying->path);
}

static void copy_range(const char *path, int from, int to, off_t start, off_t end) {
  static char block[1 << 17];
  for (off_t at = start; at < end;) {
    size_t wanted = end - at < (off_t)sizeof block ? (size_t)(end - at) : sizeof block;
    ssize_t got = pread(from, block, wanted, at);
    if (got < 0) die("read", path);
    if (!got) return; /* shorter than it was when its size was read */
    for (ssize_t done = 0, n; done < got; done += n)
      if ((n = pwrite(to, block + done, (size_t)(got - done), at + done)) < 0) die("write", path);
    at += got;
  }
}

/* Shares the blocks where the file system can; else copies what is not a hole. */
void copy_content(const char *path, int from, int to, off_t size) {
  if (!ioctl(to, FICLONE, from)) return;
  for (off_t at = 0; at < size;) {
    off_t start = lseek(from, at, SEEK_DATA);
    if (start < 0 && errno == ENXIO) break;
    off_t end = start < 0 ? size : lseek(from, start, SEEK_HOLE);
    if (start < 0) start = at; /* a file system that does not know holes */
    if (end < start || end > size) end = size;
    copy_range(path, from, to, start, end);
    at = end;
  }
  if (ftruncate(to, size)) die("ftruncate", path);
}

static bool linked(struct copying *copying, const struct found *found, int in, const char *name) {
  const char *known = find_place(&copying->links, found);
  if (!known) return false;
  if (!linkat(copying->root, known, in, name, 0)) return copying->entries++, true;
  if (errno != EMLINK && errno != EPERM) die("link", copying->path);
  return false; /* a copy of its own will do */
}

static void copy_file(struct copying *copying, struct found *found, int in, const char *name) {
  bool shared = found->stat.stx_nlink > 1;
  if (shared && linked(copying, found, in, name)) return;
  struct stat info;
  int from = open_regular(found, &info);
  if (from < 0) return; /* gone meanwhile */
  int to = openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) die("create", copying->path);
  copy_content(copying->path, from, to, info.st_size);
  if (close(to)) die("write", copying->path);
  close(from);
  finish_entry(copying, found, in, name);
  copying->bytes += (unsigned long long)info.st_size;
  if (shared) remember_place(&copying->links, found, copying->place);
}

static void copy_symlink(struct copying *copying, struct found *found, int in, const char *name) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(found->in.fd, found->name, target, sizeof target - 1);
  if (length < 0) return; /* gone meanwhile */
  target[length] = '\0';
  if (symlinkat(target, in, name)) die("symlink", copying->path);
  finish_entry(copying, found, in, name);
}

static void leave_out(struct copying *copying) { fwrite(copying->path, 1, strlen(copying->path) + 1, stdout); }

static void copy_entry(const struct found *found, void *with);

static void copy_directory(struct copying *copying, struct found *found, int in, const char *name) {
  if (strcmp(name, ".") && mkdirat(in, name, 0700)) die("mkdir", copying->path);
  int made = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (made < 0) die("open", copying->path);
  struct merged *below = descend(found->parent, found->name);
  int outer = copying->into;
  copying->into = made;
  if (below) each_name(below, copy_entry, copying);
  copying->into = outer;
  release(below);
  close(made);
  finish_entry(copying, found, in, name);
}

static void copy_as(struct copying *copying, struct found *found, int in, const char *name) {
  switch (found->stat.stx_mode & S_IFMT) {
    case S_IFREG: copy_file(copying, found, in, name); break;
    case S_IFDIR: copy_directory(copying, found, in, name); break;
    case S_IFLNK: copy_symlink(copying, found, in, name); break;
    case S_IFIFO:
      if (mkfifoat(in, name, 0600)) die("mkfifo", copying->path);
      finish_entry(copying, found, in, name);
      break;
    default: leave_out(copying);
  }
}

/* Appends a component; returns the length before it. */
static size_t append(char *path, size_t *length, const char *name) {
  size_t before = *length, room = PATH_MAX - before;
  int added = snprintf(path + before, room, "%s%s", before ? "/" : "", name);
  if ((size_t)added >= room) die_usage("a path is longer than the kernel takes", path);
  *length += (size_t)added;
  return before;
}

static void copy_entry(const struct found *found, void *with) {
  struct copying *copying = with;
  struct found own = *found;
  size_t length = append(copying->path, &copying->length, found->name);
  size_t place_length = append(copying->place, &copying->place_length, found->name);
  copy_as(copying, &own, copying->into, found->name);
  copying->path[copying->length = length] = '\0';
  copying->place[copying->place_length = place_length] = '\0';
}

/* The directory for `place`, made as far as it is missing; `*name` is what to make in it. */
static int open_place(const struct copying *copying, char *place, char **name) {
  int at = openat(copying->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (char *slash; (slash = strchr(place, '/')); place = slash + 1) {
    *slash = '\0';
    if (!*place || !strcmp(place, ".") || !strcmp(place, "..")) die_usage("a bad place", place);
    bool made = !mkdirat(at, place, 0755);
    if (!made && errno != EEXIST) die("mkdir", place);
    int below = openat(at, place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0) die("open", place);
    const struct copy_owner *owner = copying->owner;
    if (made && !owner->keep && fchown(below, owner->uid, owner->gid)) die("chown", place);
    close(at);
    at = below;
  }
  if (!strcmp(place, ".") || !strcmp(place, "..")) die_usage("a bad place", place);
  *name = *place ? place : ".";
  return at;
}

static void copy_path(struct copying *copying, struct walk *walk, char *place) {
  struct found found;
  if (!resolve(walk, copying->path, &found)) {
    errno = ENOENT;
    die("copy", copying->path);
  }
  copying->place_length = strlen(place);
  memcpy(copying->place, place, copying->place_length + 1);
  char *name;
  int in = open_place(copying, place, &name);
  if (!strcmp(name, ".") && !S_ISDIR(found.stat.stx_mode)) die_usage("not a directory", copying->path);
  char last[NAME_MAX + 1]; /* the walk resolves in `path`, which grows below */
  snprintf(last, sizeof last, "%s", found.name);
  found.name = last;
  copy_as(copying, &found, in, name);
  close(in);
}

void copy_files(const char *into, const struct copy_owner *owner, char **layers, size_t count) {
  static struct copying copying;
  copying = (struct copying){.owner = owner, .layers = layers};
  copying.root = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copying.root < 0) die("open", into);
  umask(0);
  struct walk *walk = walk_layers(layers, count);
  for (char *path; (path = next_path());) {
    copying.length = strlen(path);
    memcpy(copying.path, path, copying.length + 1);
    char *place = next_path();
    if (!place) die_usage("a path without a place", copying.path);
    copy_path(&copying, walk, place);
  }
  putchar('\0');
  printf("%llu %llu", copying.entries, copying.bytes);
  putchar('\0');
}
