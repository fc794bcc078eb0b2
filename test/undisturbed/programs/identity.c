/* What tells one file from another: device and inode numbers, link counts, times, mounts, handles. */
#define _GNU_SOURCE
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200
#endif

/* Lower files that nothing else here touches; each program that copies one up has its own. */
#define LICENSES "/usr/share/common-licenses/"

static struct statx look_at(int fd, const char *path) {
  struct statx seen;
  MUST(statx(fd, path, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &seen));
  return seen;
}

static struct statx look(const char *path) { return look_at(AT_FDCWD, path); }

static long nanoseconds(struct statx_timestamp time) { return time.tv_sec * 1000000000L + time.tv_nsec; }

static void same_file(const char *name, const struct statx *was, const struct statx *is) {
#define FIELD(field, before, after)                           \
  do {                                                        \
    char what[200];                                           \
    snprintf(what, sizeof what, "%s of %.100s", field, name); \
    same(what, (long)(before), (long)(after));                \
  } while (0)
  FIELD("st_dev", makedev(was->stx_dev_major, was->stx_dev_minor), makedev(is->stx_dev_major, is->stx_dev_minor));
  FIELD("st_ino", was->stx_ino, is->stx_ino);
  FIELD("st_mode", was->stx_mode, is->stx_mode);
  FIELD("st_nlink", was->stx_nlink, is->stx_nlink);
  FIELD("st_size", was->stx_size, is->stx_size);
  FIELD("st_mtime", nanoseconds(was->stx_mtime), nanoseconds(is->stx_mtime));
  FIELD("st_ctime", nanoseconds(was->stx_ctime), nanoseconds(is->stx_ctime));
  /* The host reads lower files, too. */
  if (*name != '/') FIELD("st_atime", nanoseconds(was->stx_atime), nanoseconds(is->stx_atime));
  FIELD("birth time", nanoseconds(was->stx_btime), nanoseconds(is->stx_btime));
  FIELD("mount id", was->stx_mnt_id, is->stx_mnt_id);
#undef FIELD
}

/* Looks at paths before and after; none of them is open. */
static void watch_paths(const char *const paths[]) {
  struct statx seen[16];
  for (int i = 0; paths[i]; i++) seen[i] = look(paths[i]);
  hold();
  for (int i = 0; paths[i]; i++) {
    struct statx is = look(paths[i]);
    same_file(paths[i], &seen[i], &is);
  }
}

static void watch_open(const char *path, int flags) {
  int fd = MUST(open(path, flags, 0600));
  struct statx was = look_at(fd, "");
  hold();
  struct statx is = look_at(fd, ""), by_name = look(path);
  same_file(path, &was, &is);
  same_file("its name", &was, &by_name);
}

static void new_files(void) {
  write_file("one", "new");
  write_file("empty", "");
  MUST(mkdir("directory", 0755));
  write_file("directory/inner", "new");
  MUST(symlink("one", "symlink"));
  MUST(mkfifo("fifo", 0600));
  watch_paths((const char *const[]){"one", "empty", "directory", "directory/inner", "symlink", "fifo", ".", NULL});
}

static void lower_files(void) {
  watch_paths((const char *const[]){"/etc/passwd", "/usr/bin/env", "/usr/lib", "/usr/include", "/bin/sh", NULL});
}

/* How many names a copied-up file has is another matter: overlayfs counts its index when the inode was dropped from
 * memory, with a snapshot or without one. */
static void same_copied_up(const char *path, struct statx was) {
  struct statx is = look(path);
  was.stx_nlink = is.stx_nlink;
  same_file(path, &was, &is);
}

static void copied_up_files(void) {
  const char *path = LICENSES "GPL-2";
  int fd = MUST(open(path, O_WRONLY | O_APPEND));
  MUST(write(fd, "more\n", 5));
  close(fd);
  MUST(chmod(LICENSES "Artistic", 0600));
  write_file("/usr/share/misc/new", "in a directory that is half lower");
  struct statx written = look(path), changed = look(LICENSES "Artistic"), directory = look("/usr/share/misc");
  hold();
  same_copied_up(path, written);
  same_copied_up(LICENSES "Artistic", changed);
  same_copied_up("/usr/share/misc", directory);
}

static void open_new(void) { watch_open("open", O_RDWR | O_CREAT); }
static void open_lower(void) { watch_open("/etc/services", O_RDONLY); }
static void open_copied_up(void) { watch_open(LICENSES "BSD", O_RDWR); }
static void open_directory(void) { watch_open("/usr/share/doc", O_RDONLY | O_DIRECTORY); }
static void open_path_only(void) { watch_open("/usr/bin/env", O_PATH); }

/* Open read-only when another descriptor had it copied up: the two are different files to the kernel. */
static void opened_before_copy_up(void) {
  const char *path = LICENSES "LGPL-2";
  int old = MUST(open(path, O_RDONLY)), fd = MUST(open(path, O_WRONLY | O_APPEND));
  MUST(write(fd, "more\n", 5));
  struct statx was = look_at(old, ""), new_was = look_at(fd, "");
  off_t length = MUST(lseek(old, 0, SEEK_END));
  hold();
  struct statx is = look_at(old, ""), new_is = look_at(fd, "");
  same_file("the descriptor from before", &was, &is);
  same_file("the descriptor from after", &new_was, &new_is);
  same("its end", length, lseek(old, 0, SEEK_END));
}

static void hard_links(void) {
  write_file("a", "linked");
  MUST(link("a", "b"));
  MUST(link("a", "c"));
  int fd = MUST(open("b", O_RDWR));
  struct statx was = look("a");
  hold();
  struct statx a = look("a"), b = look_at(fd, ""), c = look("c");
  same_file("the first name", &was, &a);
  same_file("the open one", &was, &b);
  same_file("the third name", &was, &c);
}

static void lower_hard_link(void) {
  const char *path = LICENSES "MPL-1.1";
  MUST(link(path, "linked"));
  struct statx was = look(path), was_linked = look("linked");
  hold();
  same_copied_up(path, was);
  same_copied_up("linked", was_linked);
}

/* All but the times, which have programs of their own. */
static void same_but_times(const char *name, struct statx was, struct statx is) {
  was.stx_atime = is.stx_atime, was.stx_ctime = is.stx_ctime, was.stx_mtime = is.stx_mtime;
  same_file(name, &was, &is);
}

static int make_deleted(void) {
  int fd = MUST(open("deleted", O_RDWR | O_CREAT, 0600));
  MUST(write(fd, "deleted", 7));
  MUST(unlink("deleted"));
  return fd;
}

static void deleted_file(void) {
  int fd = make_deleted();
  struct statx was = look_at(fd, ""), directory = look(".");
  hold();
  struct statx is = look_at(fd, ""), now_directory = look(".");
  same("change time", nanoseconds(was.stx_ctime), nanoseconds(is.stx_ctime));
  same_but_times("the deleted file", was, is);
  same_file("its directory", &directory, &now_directory);
}

/* A dump reads it, since nothing else holds its contents. */
static void deleted_file_read(void) {
  int fd = make_deleted();
  struct statx was = look_at(fd, "");
  hold();
  struct statx is = look_at(fd, "");
  same("access time", nanoseconds(was.stx_atime), nanoseconds(is.stx_atime));
}

/* A file that is open under a deleted name, while it has another. CRIU gives it a name for the length of a dump. */
struct twice_named {
  int fd;
  struct statx file, directory, elsewhere;
};
static struct twice_named make_twice_named(void) {
  int fd = MUST(open("first", O_RDWR | O_CREAT, 0600));
  MUST(mkdir("elsewhere", 0755));
  MUST(link("first", "elsewhere/second"));
  MUST(unlink("first"));
  return (struct twice_named){fd, look_at(fd, ""), look("."), look("elsewhere")};
}

static void deleted_name(void) {
  struct twice_named was = make_twice_named();
  hold();
  same_but_times("the file", was.file, look_at(was.fd, ""));
  same_but_times("the directory of its deleted name", was.directory, look("."));
  same_but_times("the directory of its other name", was.elsewhere, look("elsewhere"));
  EXPECT(access("first", F_OK) < 0 && errno == ENOENT);
}

static void deleted_name_times(void) {
  struct twice_named was = make_twice_named();
  hold();
  struct statx file = look_at(was.fd, ""), directory = look(".");
  same("change time of the file", nanoseconds(was.file.stx_ctime), nanoseconds(file.stx_ctime));
  same("time of the directory", nanoseconds(was.directory.stx_mtime), nanoseconds(directory.stx_mtime));
}

static void file_system(void) {
  struct statvfs was, is;
  MUST(statvfs(".", &was));
  hold();
  MUST(statvfs(".", &is));
  same("f_fsid", (long)was.f_fsid, (long)is.f_fsid);
  same("f_bsize", (long)was.f_bsize, (long)is.f_bsize);
  same("f_flag", (long)was.f_flag, (long)is.f_flag);
  same("f_namemax", (long)was.f_namemax, (long)is.f_namemax);
}

/* A text of /proc that must not change by a letter. */
static void watch_text(const char *path) {
  char *was = slurp(path);
  if (!*was) cannot(__FILE__, __LINE__, path);
  hold();
  same_lines(path, was, slurp(path));
}

/* A copy has all of them with the same options, in another order, and from directories of its own. */
static void same_mounts(char *before, const char *after) {
  char place[PATH_MAX], options[200], pair[PATH_MAX + 210];
  for (char *line; (line = strsep(&before, "\n"));) {
    if (sscanf(line, "%*s %*s %*s %*s %4095s %199s", place, options) != 2) continue;
    snprintf(pair, sizeof pair, " %s %s ", place, options);
    if (!strstr(after, pair)) notice("no mount on %s with %s", place, options);
  }
}

static void mounts(void) {
  char *was = slurp("/proc/self/mountinfo");
  hold();
  char *is = slurp("/proc/self/mountinfo");
  if (is_copy())
    same_mounts(was, is);
  else
    same_lines("/proc/self/mountinfo", was, is);
}

static void descriptor_details(void) {
  int fd = MUST(open("file", O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK, 0600));
  MUST(write(fd, "12345", 5));
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  watch_text(path);
}

/* The bytes of a handle name a file for good: NFS servers and backup programs keep them. */
static void file_handle(void) {
  struct {
    struct file_handle head;
    unsigned char bytes[MAX_HANDLE_SZ];
  } was = {.head.handle_bytes = MAX_HANDLE_SZ}, is = {.head.handle_bytes = MAX_HANDLE_SZ};
  int mount;
  write_file("file", "text");
  if (name_to_handle_at(AT_FDCWD, "file", &was.head, &mount, AT_HANDLE_FID) < 0) cannot(__FILE__, __LINE__, "handle");
  int mount_before = mount;
  hold();
  MUST(name_to_handle_at(AT_FDCWD, "file", &is.head, &mount, AT_HANDLE_FID));
  same("length of the handle", was.head.handle_bytes, is.head.handle_bytes);
  EXPECT(memcmp(was.bytes, is.bytes, was.head.handle_bytes) == 0);
  same("mount", mount_before, mount);
}

/* A directory that is half read, as by find: every name exactly once. */
static void half_read_directory(void) {
  static bool seen[300];
  char name[32];
  for (int i = 0; i < 300; i++) {
    snprintf(name, sizeof name, "entry-%d", i);
    write_file(name, "");
  }
  DIR *directory = opendir(".");
  struct dirent *entry;
  int number;
  for (int i = 0; i < 100; i++)
    if ((entry = readdir(directory)) && sscanf(entry->d_name, "entry-%d", &number) == 1) seen[number] = true;
  long place = telldir(directory);
  hold();
  while ((entry = readdir(directory))) {
    if (sscanf(entry->d_name, "entry-%d", &number) != 1) continue;
    if (seen[number]) notice("%s came twice", entry->d_name);
    seen[number] = true;
    struct statx is = look(entry->d_name);
    same("its inode number in the directory", (long)entry->d_ino, (long)is.stx_ino);
  }
  for (number = 0; number < 300; number++)
    if (!seen[number]) notice("entry-%d was left out", number);
  seekdir(directory, place);
  EXPECT(telldir(directory) == place);
}

/* The text of a file and its identity, over and over, while other files come and go. */
static void file_under_work(void) {
  int fd = MUST(open("journal", O_RDWR | O_CREAT | O_APPEND, 0600));
  struct statx was = look_at(fd, "");
  ready();
  for (long record = 0; !is_over() && !has_noticed(); record++) {
    MUST(write(fd, &record, sizeof record));
    write_file("next", "text");
    MUST(rename("next", "current"));
    int again = MUST(open("journal", O_RDONLY));
    long last = -1;
    MUST(pread(again, &last, sizeof last, record * (off_t)sizeof record));
    same("the last record", record, last);
    struct statx is = look_at(again, "");
    same("st_ino", (long)was.stx_ino, (long)is.stx_ino);
    same("st_dev", was.stx_dev_minor, is.stx_dev_minor);
    same("size", (record + 1) * (long)sizeof record, (long)is.stx_size);
    close(again);
    rest(0.01);
  }
}

const struct program identity_programs[] = {
    {"new-files", new_files},
    {"lower-files", lower_files},
    {"copied-up-files", copied_up_files},
    {"open-new", open_new},
    {"open-lower", open_lower},
    {"open-copied-up", open_copied_up},
    {"open-directory", open_directory},
    {"open-path-only", open_path_only},
    {"opened-before-copy-up", opened_before_copy_up},
    {"hard-links", hard_links},
    {"lower-hard-link", lower_hard_link},
    {"deleted-file", deleted_file},
    {"deleted-file-read", deleted_file_read},
    {"deleted-name", deleted_name},
    {"deleted-name-times", deleted_name_times},
    {"file-system", file_system},
    {"mounts", mounts},
    {"descriptor-details", descriptor_details},
    {"file-handle", file_handle},
    {"half-read-directory", half_read_directory},
    {"file-under-work", file_under_work},
    {0},
};
