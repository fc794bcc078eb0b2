/* Makes one layer of several. Mounted in their place, over whatever is below them, it shows exactly the same. Whiteouts
 * and opaque directories stay where something below could show through.
 *
 * Everything is copied and nothing linked to the old layers: the link count would be visible inside, and the index of
 * an overlay would change a file in both places. The attributes of OverlayFS describe where a layer was when it was
 * written, so they are left out, except for the opaque mark. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report.h"
#include "view.h"

#define OWN_ATTRIBUTES "trusted.overlay."
#define NESTED_ATTRIBUTES "trusted.overlay.overlay." /* of an overlay inside an environment: plain data here */
#define OPAQUE "trusted.overlay.opaque"
#define NICENESS 10 /* environments have precedence */

struct squashing {
  int root, into;    /* the new layer, and its directory that the next entry goes into */
  void *links;       /* files with several names, see links.c */
  int whiteout;      /* the others are links to this one; -1 if there is none yet */
  struct path place; /* of the current entry, below `root` */
};

/* A path to an entry, for calls that take no descriptor of a directory. */
static const char *path_of(char *space, size_t size, int directory, const char *name) {
  snprintf(space, size, "/proc/self/fd/%d/%s", directory, name);
  return space;
}

static bool is_kept(const char *attribute) {
  return strncmp(attribute, OWN_ATTRIBUTES, strlen(OWN_ATTRIBUTES)) ||
         !strncmp(attribute, NESTED_ATTRIBUTES, strlen(NESTED_ATTRIBUTES));
}

static void copy_attributes(const struct found *found, int in, const char *name) {
  static char names[XATTR_LIST_MAX], value[XATTR_SIZE_MAX];
  char from[NAME_MAX + 40], to[NAME_MAX + 40];
  path_of(from, sizeof from, found->in.fd, found->name);
  path_of(to, sizeof to, in, name);
  ssize_t length = llistxattr(from, names, sizeof names);
  if (length < 0 && errno != EOPNOTSUPP) die("llistxattr '%s'", found->name);
  for (const char *each = names; each < names + length; each += strlen(each) + 1) {
    if (!is_kept(each)) continue;
    ssize_t size = lgetxattr(from, each, value, sizeof value);
    if (size < 0) die("lgetxattr '%s' of '%s'", each, found->name);
    if (lsetxattr(to, each, value, (size_t)size, 0)) die("lsetxattr '%s' of '%s'", each, found->name);
  }
}

/* The owner comes first, because changing it clears set-id bits and capabilities. */
static void finish_entry(const struct found *found, int in, const char *name) {
  const struct statx *info = &found->stat;
  if (fchownat(in, name, info->stx_uid, info->stx_gid, AT_SYMLINK_NOFOLLOW)) die("fchownat '%s'", found->name);
  if (!S_ISLNK(info->stx_mode) && fchmodat(in, name, info->stx_mode & 07777, 0)) die("fchmodat '%s'", found->name);
  copy_attributes(found, in, name);
  struct timespec times[] = {
      {.tv_sec = info->stx_atime.tv_sec, .tv_nsec = info->stx_atime.tv_nsec},
      {.tv_sec = info->stx_mtime.tv_sec, .tv_nsec = info->stx_mtime.tv_nsec},
  };
  if (utimensat(in, name, times, AT_SYMLINK_NOFOLLOW)) die("utimensat '%s'", found->name);
}

static void copy_regular(const struct found *found, int in) {
  struct stat info;
  int from = open_regular(found, &info);
  if (from < 0) die_because("'%s' is no longer a regular file", found->name);
  int to = openat(in, found->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) die("openat '%s' to create it", found->name);
  copy_content(found->name, from, to, info.st_size);
  if (close(to)) die("close '%s'", found->name);
  close(from);
}

static void copy_symlink(const struct found *found, int in) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(found->in.fd, found->name, target, sizeof target - 1);
  if (length < 0) die("readlinkat '%s'", found->name);
  target[length] = '\0';
  if (symlinkat(target, in, found->name)) die("symlinkat '%s'", found->name);
}

static void copy_other(const struct found *found, int in) {
  dev_t device = makedev(found->stat.stx_rdev_major, found->stat.stx_rdev_minor);
  if (mknodat(in, found->name, (found->stat.stx_mode & S_IFMT) | 0600, device)) die("mknodat '%s'", found->name);
}

static void make_whiteout(struct squashing *squashing, const char *name) {
  if (squashing->whiteout >= 0) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", squashing->whiteout);
    if (!linkat(AT_FDCWD, path, squashing->into, name, AT_SYMLINK_FOLLOW)) return;
    if (errno != EMLINK) die("linkat '%s'", name);
    close(squashing->whiteout);
  }
  if (mknodat(squashing->into, name, S_IFCHR, makedev(0, 0))) die("mknodat '%s'", name);
  squashing->whiteout = openat(squashing->into, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (squashing->whiteout < 0) die("openat '%s'", name);
}

/* The content of a redirected directory is under another name, which the new layer would not know. */
static void refuse_redirects(const struct merged *directory, const char *name) {
  for (size_t i = 0; i < directory->count; i++)
    if (fgetxattr(directory->parts[i].fd, OWN_ATTRIBUTES "redirect", NULL, 0) >= 0)
      die_because("directory '%s' is redirected, so its layer cannot be squashed", name);
}

static void squash_entry(const struct found *found, void *with);

static void squash_directory(struct squashing *squashing, const struct found *found) {
  int outer = squashing->into;
  if (mkdirat(outer, found->name, 0700)) die("mkdirat '%s'", found->name);
  int made = openat(outer, found->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (made < 0) die_open(found->name);
  struct merged *below = descend(found->parent, found->name);
  if (!below) die_because("'%s' is no longer a directory", found->name);
  refuse_redirects(below, found->name);
  squashing->into = made;
  each_entry(below, squash_entry, squashing);
  squashing->into = outer;
  if (below->closed && !found->parent->closed && fsetxattr(made, OPAQUE, "y", 1, 0))
    die("fsetxattr '%s' of '%s'", OPAQUE, found->name);
  release(below);
  close(made);
}

static void squash_as(struct squashing *squashing, const struct found *found) {
  bool shared = found->stat.stx_nlink > 1 && !S_ISDIR(found->stat.stx_mode);
  if (shared && link_to_first(&squashing->links, found, squashing->root, squashing->into, found->name)) return;
  switch (found->stat.stx_mode & S_IFMT) {
    case S_IFREG: copy_regular(found, squashing->into); break;
    case S_IFDIR: squash_directory(squashing, found); break;
    case S_IFLNK: copy_symlink(found, squashing->into); break;
    default: copy_other(found, squashing->into);
  }
  finish_entry(found, squashing->into, found->name);
  if (shared) remember_place(&squashing->links, found, squashing->place.text);
}

static void squash_entry(const struct found *found, void *with) {
  struct squashing *squashing = with;
  if (is_whiteout(&found->stat)) {
    if (!found->parent->closed) make_whiteout(squashing, found->name);
    return;
  }
  size_t length = append_name(&squashing->place, found->name);
  squash_as(squashing, found);
  cut_path(&squashing->place, length);
}

void verb_squash(char **words) {
  const char *into = words[0];
  char **layers = words + 1;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is written after the caller was killed */
  setpriority(PRIO_PROCESS, 0, NICENESS);
  allow_deep_trees();
  umask(0);
  if (mkdir(into, 0700)) die("mkdir '%s'", into);
  struct squashing squashing = {.root = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .whiteout = -1};
  if (squashing.root < 0) die("open '%s'", into);
  squashing.into = squashing.root;
  struct merged *merged = merge_layers(layers, count_words(layers));
  each_entry(merged, squash_entry, &squashing);
  struct found top = {.parent = merged, .in = merged->parts[0], .name = "."};
  if (!stat_name(top.in.fd, ".", &top.stat)) die("statx '%s'", layers[0]);
  finish_entry(&top, squashing.root, ".");
  if (syncfs(squashing.root)) die("syncfs '%s'", into);
}
