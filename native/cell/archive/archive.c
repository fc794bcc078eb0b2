/* Files of the layers as a tar archive on stdout (tar.c). stdin holds pairs: a path
 * inside, and its name in the archive (empty: the archive's top, "."). Directories
 * come with all below them, and before it.
 *
 * Modes, ids as those inside see them, modification times, symbolic links, hard links
 * and holes are kept. What has no meaning outside (devices, sockets, pipes) is left out.
 *
 * The last entry, of a type that no file has, is the report: "ENTRIES BYTES" and the
 * paths left out, each ending with NUL. Without it, the archive is not whole. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "report.h"
#include "tar.h"

/* There may be any number of pipes and sockets inside. */
#define MOST_LEFT_OUT 1000
#define MOST_LEFT_OUT_BYTES (1 << 20)
/* Every entry has its whole name: those of a few deep directories could fill a disk. */
#define MOST_NAME_BYTES (1ULL << 30)

struct archiving {
  char **layers;
  uint32_t id_base, id_count; /* of cell layers */
  void *links;                /* files with several names, see links.c */
  struct path path;           /* inside, of what is being archived */
  struct path name;           /* the same, in the archive */
  struct extents extents;
  FILE *left_out;
  char *left_out_text;
  size_t left_out_size, left_out_count;
  unsigned long long entries, bytes, name_bytes;
};

static uint32_t inside_id(const struct archiving *archiving, const struct found *found, uint32_t id) {
  bool host_ids;
  layer_path(archiving->layers[found->in.layer], &host_ids);
  uint32_t inside = host_ids ? id : id - archiving->id_base;
  return inside < archiving->id_count ? inside : 65534; /* what the kernel shows for such an id */
}

static struct tar_entry begin_entry(struct archiving *archiving, const struct found *found, enum tar_type type) {
  archiving->name_bytes += archiving->name.length;
  if (archiving->name_bytes > MOST_NAME_BYTES)
    die_because("a tree is too deep to be copied: its names are longer than 1 GiB together");
  archiving->entries++;
  return (struct tar_entry){
      .type = type,
      .name = archiving->name.length ? archiving->name.text : ".",
      .mode = found->stat.stx_mode & 07777u,
      .uid = inside_id(archiving, found, found->stat.stx_uid),
      .gid = inside_id(archiving, found, found->stat.stx_gid),
      .mtime = found->stat.stx_mtime,
  };
}

static bool archive_link(struct archiving *archiving, const struct found *found) {
  const char *first = first_place(&archiving->links, found);
  if (!first) return false;
  struct tar_entry entry = begin_entry(archiving, found, TAR_LINK);
  entry.target = first;
  put_tar_header(&entry);
  return true;
}

static void archive_file(struct archiving *archiving, const struct found *found) {
  bool shared = found->stat.stx_nlink > 1;
  if (shared && archive_link(archiving, found)) return;
  struct stat info;
  int fd = open_regular(found, &info);
  if (fd < 0) return; /* gone meanwhile */
  struct tar_entry entry = begin_entry(archiving, found, TAR_FILE);
  entry.size = info.st_size;
  if (find_extents(&archiving->extents, fd, info.st_size)) entry.extents = &archiving->extents;
  put_tar_header(&entry);
  put_tar_content(&entry, fd);
  close(fd);
  archiving->bytes += (unsigned long long)info.st_size;
  if (shared) remember_place(&archiving->links, found, archiving->name.text);
}

static void archive_symlink(struct archiving *archiving, const struct found *found) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(found->in.fd, found->name, target, sizeof target - 1);
  if (length < 0) return; /* gone meanwhile */
  target[length] = '\0';
  struct tar_entry entry = begin_entry(archiving, found, TAR_SYMLINK);
  entry.target = target;
  put_tar_header(&entry);
}

static void leave_out(struct archiving *archiving) {
  if (archiving->left_out_count == MOST_LEFT_OUT) return;
  if (fflush(archiving->left_out)) die("fflush the paths left out");
  if (archiving->left_out_size + archiving->path.length > MOST_LEFT_OUT_BYTES) return;
  fwrite(archiving->path.text, 1, archiving->path.length + 1, archiving->left_out);
  archiving->left_out_count++;
}

static void archive_entry(const struct found *found, void *with);

static void archive_directory(struct archiving *archiving, const struct found *found) {
  struct tar_entry entry = begin_entry(archiving, found, TAR_DIRECTORY);
  put_tar_header(&entry);
  struct merged *below = descend(found->parent, found->name);
  if (below) each_name(below, archive_entry, archiving);
  release(below);
}

static void archive_found(struct archiving *archiving, const struct found *found) {
  switch (found->stat.stx_mode & S_IFMT) {
    case S_IFREG: archive_file(archiving, found); break;
    case S_IFDIR: archive_directory(archiving, found); break;
    case S_IFLNK: archive_symlink(archiving, found); break;
    default: leave_out(archiving);
  }
}

static void archive_entry(const struct found *found, void *with) {
  struct archiving *archiving = with;
  size_t length = append_name(&archiving->path, found->name);
  size_t name_length = append_name(&archiving->name, found->name);
  archive_found(archiving, found);
  cut_path(&archiving->path, length);
  cut_path(&archiving->name, name_length);
}

static void archive_path(struct archiving *archiving, struct walk *walk) {
  struct found found;
  if (!resolve(walk, archiving->path.text, &found)) {
    errno = ENOENT;
    die("find '%s' in the layers", archiving->path.text);
  }
  if (!archiving->name.length && !S_ISDIR(found.stat.stx_mode))
    die_because("'%s' is not a directory, so it cannot be the top of an archive", archiving->path.text);
  char last[NAME_MAX + 1]; /* the walk resolves in `path`, which grows below */
  snprintf(last, sizeof last, "%s", found.name);
  found.name = last;
  archive_found(archiving, &found);
}

static void put_report(struct archiving *archiving) {
  char counts[64];
  int length = snprintf(counts, sizeof counts, "%llu %llu", archiving->entries, archiving->bytes);
  if (fclose(archiving->left_out)) die("fclose the paths left out");
  size_t head = (size_t)length + 1, size = head + archiving->left_out_size;
  char *report = require_memory(malloc(size));
  memcpy(report, counts, head);
  memcpy(report + head, archiving->left_out_text, archiving->left_out_size);
  put_tar_header(&(struct tar_entry){.type = TAR_REPORT, .name = ".forkpoint-report", .size = (off_t)size});
  put_tar_bytes(report, size);
  free(report);
}

void verb_archive(char **words) {
  static struct archiving archiving;
  begin_view();
  char rest;
  archiving = (struct archiving){.layers = words + 1};
  if (sscanf(words[0], "%u:%u%c", &archiving.id_base, &archiving.id_count, &rest) != 2)
    die_because("ids '%s' are not BASE:COUNT", words[0]);
  archiving.left_out = open_memstream(&archiving.left_out_text, &archiving.left_out_size);
  if (!archiving.left_out) die("open_memstream");
  struct walk *walk = walk_layers(words + 1, count_words(words + 1));
  for (char *path; (path = next_path());) {
    set_path(&archiving.path, path);
    char *name = next_path();
    if (!name) die_because("no name was given for '%s'", archiving.path.text);
    set_path(&archiving.name, name);
    archive_path(&archiving, walk);
  }
  put_report(&archiving);
  end_tar();
}
