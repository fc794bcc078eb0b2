/* The files of an environment, read on the host through its layers without mounting
 * them: what OverlayFS would show, by its rules. Names come from a sandbox. Nothing
 * here follows a symbolic link, and no path is resolved in more than one step. */
#pragma once

#include "cell.h"

#include <linux/stat.h>
#include <stdio.h>
#include <sys/stat.h>

/* Trees may be deeper than a path can be long. Each level holds directories open. */
#define DEEPEST 16384

/* path.c: a component at a time; starts as zeros */
struct path {
  char *text;
  size_t length, capacity;
};
void set_path(struct path *path, const char *text);
size_t append_name(struct path *path, const char *name); /* returns the length before */
void cut_path(struct path *path, size_t length);
/* A directory below `at`, step by step, through no symbolic link; -1 if there is none. */
int open_below(int at, const char *path);

/* One layer's part of a directory. */
struct part {
  int layer; /* index in the command's list */
  int fd;
};

/* A directory as OverlayFS merges it, topmost part first. */
struct merged {
  size_t count, depth;
  bool closed; /* nothing of the layers below these can show through */
  struct part parts[];
};

/* What a name in a merged directory stands for. */
struct found {
  const struct merged *parent;
  struct part in; /* the part of the parent that holds it */
  const char *name;
  struct statx stat;
};

/* path.c: a directory could not be opened; where every level holds some open, there may be too many */
__attribute__((noreturn)) void die_open(const char *on);

/* merge.c */
int open_layer(const char *path);
const char *layer_path(const char *layer, bool *host_ids); /* of host:PATH or cell:PATH */
struct merged *merge_layers(char **layers, size_t count);
bool is_opaque(int directory);
bool is_whiteout(const struct statx *info);
bool stat_name(int directory, const char *name, struct statx *info); /* false: there is none */
bool find_name(const struct merged *directory, const char *name, struct found *found);
struct merged *descend(const struct merged *directory, const char *name); /* NULL: no directory */
void release(struct merged *directory);
/* Names of a merged directory in byte order, each as the layers together show it. */
void each_name(const struct merged *directory, void (*visit)(const struct found *, void *), void *with);
/* The same, with the whiteouts that are topmost. */
void each_entry(const struct merged *directory, void (*visit)(const struct found *, void *), void *with);

/* walk.c: resolves many paths, keeping open what the path before went through */
struct walk;
struct walk *walk_layers(char **layers, size_t count);
/* Takes the path apart in place; `found->name` points into it. */
bool resolve(struct walk *walk, char *path, struct found *found);
char *next_path(void); /* from stdin, up to a NUL; NULL at its end */

/* record.c */
void print_entry(int layer, int directory, const char *name, const struct statx *info, bool opaque,
                 const char *path);
void print_missing(const char *path);
void finish_output(void);

/* content.c */
int open_regular(const struct found *found, struct stat *info); /* -1: it is none, or gone */

/* links.c: where the first copy of a file that has several names was put; starts as NULL */
/* Makes `name` a link of the first copy, found below `root`; false if there is none, or no more can be. */
bool link_to_first(void *const *links, const struct found *found, int root, int in, const char *name);
void remember_place(void **links, const struct found *found, const char *place);

/* copy.c: what is a hole stays one, as far as the file system tells */
void copy_content(const char *path, int from, int to, off_t size);

/* view.c */
bool is_view_command(const char *name);
int run_view_command(char **argv);
void allow_many_files(void);
void allow_deep_trees(void); /* as deep as DEEPEST */
/* scan.c, lookup.c, content.c, copy.c */
void scan(const char *path);
void lookup(char **layers, size_t count);
void list(char **layers, size_t count);
void read_files(char **layers, size_t count);
void compare_files(char **before, size_t before_count, char **after, size_t after_count);
struct copy_owner {
  bool keep;
  uint32_t uid, gid;           /* of everything, unless kept */
  uint32_t id_base, id_count;  /* of cell layers, to keep them */
};
void copy_files(const char *into, const struct copy_owner *owner, char **layers, size_t count);
/* squash.c */
void squash(const char *into, char **layers, size_t count);
