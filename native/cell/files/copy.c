/* Copies files out of the layers into a directory of the host. stdin holds pairs: a
 * path inside, and where it goes below the directory (empty: the directory itself,
 * which takes what is inside the path). Directories come with all below them.
 *
 * Modes, modification times, symbolic links, hard links and holes are kept. Set-id
 * bits are not: a file from a sandbox gives nobody its owner's rights. What has no
 * meaning outside (devices, sockets, pipes) is left out.
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
  struct path path;    /* inside, of what is being copied */
  struct path place;   /* the same, below `root` */
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
  if (fchownat(in, name, uid, gid, AT_SYMLINK_NOFOLLOW)) die("chown", copying->path.text);
}

/* `made` is what was made, open; -1 for a symbolic link, which has no mode. */
static void finish_entry(struct copying *copying, const struct found *found, int made, int in, const char *name) {
  copying->entries++;
  give_owner(copying, found, in, name);
  if (made >= 0 && fchmod(made, found->stat.stx_mode & 01777)) die("chmod", copying->path.text);
  struct timespec times[] = {
      {.tv_nsec = UTIME_OMIT},
      {.tv_sec = found->stat.stx_mtime.tv_sec, .tv_nsec = found->stat.stx_mtime.tv_nsec},
  };
  if (utimensat(in, name, times, AT_SYMLINK_NOFOLLOW)) die("utimensat", copying->path.text);
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
  bool made = link_to_first(&copying->links, found, copying->root, in, name);
  if (made) copying->entries++;
  return made;
}

static void copy_file(struct copying *copying, struct found *found, int in, const char *name) {
  bool shared = found->stat.stx_nlink > 1;
  if (shared && linked(copying, found, in, name)) return;
  struct stat info;
  int from = open_regular(found, &info);
  if (from < 0) return; /* gone meanwhile */
  int to = openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) die("create", copying->path.text);
  copy_content(copying->path.text, from, to, info.st_size);
  finish_entry(copying, found, to, in, name);
  if (close(to)) die("write", copying->path.text);
  close(from);
  copying->bytes += (unsigned long long)info.st_size;
  if (shared) remember_place(&copying->links, found, copying->place.text);
}

static void copy_symlink(struct copying *copying, struct found *found, int in, const char *name) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(found->in.fd, found->name, target, sizeof target - 1);
  if (length < 0) return; /* gone meanwhile */
  target[length] = '\0';
  if (symlinkat(target, in, name)) die("symlink", copying->path.text);
  finish_entry(copying, found, -1, in, name);
}

static void leave_out(struct copying *copying) { fwrite(copying->path.text, 1, copying->path.length + 1, stdout); }

static void copy_entry(const struct found *found, void *with);

static void copy_directory(struct copying *copying, struct found *found, int in, const char *name) {
  if (strcmp(name, ".") && mkdirat(in, name, 0700)) die("mkdir", copying->path.text);
  int made = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (made < 0) die_open(copying->path.text);
  struct merged *below = descend(found->parent, found->name);
  int outer = copying->into;
  copying->into = made;
  if (below) each_name(below, copy_entry, copying);
  copying->into = outer;
  release(below);
  finish_entry(copying, found, made, in, name);
  close(made);
}

static void copy_as(struct copying *copying, struct found *found, int in, const char *name) {
  switch (found->stat.stx_mode & S_IFMT) {
    case S_IFREG: copy_file(copying, found, in, name); break;
    case S_IFDIR: copy_directory(copying, found, in, name); break;
    case S_IFLNK: copy_symlink(copying, found, in, name); break;
    default: leave_out(copying);
  }
}

static void copy_entry(const struct found *found, void *with) {
  struct copying *copying = with;
  struct found own = *found;
  size_t length = append_name(&copying->path, found->name);
  size_t place_length = append_name(&copying->place, found->name);
  copy_as(copying, &own, copying->into, found->name);
  cut_path(&copying->path, length);
  cut_path(&copying->place, place_length);
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
  if (!resolve(walk, copying->path.text, &found)) {
    errno = ENOENT;
    die("copy", copying->path.text);
  }
  set_path(&copying->place, place);
  char *name;
  int in = open_place(copying, place, &name);
  if (!strcmp(name, ".") && !S_ISDIR(found.stat.stx_mode)) die_usage("not a directory", copying->path.text);
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
    set_path(&copying.path, path);
    char *place = next_path();
    if (!place) die_usage("a path without a place", copying.path.text);
    copy_path(&copying, walk, place);
  }
  putchar('\0');
  printf("%llu %llu", copying.entries, copying.bytes);
  putchar('\0');
}
