/* The files of an environment, read on the host through its layers without mounting them: what OverlayFS would show,
 * by its rules. The names come from a sandbox. Nothing here follows a symbolic link, and paths are resolved one
 * component at a time. */
#pragma once

#include <linux/stat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* Trees can be deeper than a path can be long. Each level holds directories open. */
#define DEEPEST 16384
#define TOO_DEEP "a tree is too deep to read; it continues below '%s'"

/* path.c */
struct path { /* starts as zeros */
  char *text;
  size_t length, capacity;
};
void set_path(struct path *path, const char *text);
/* Appends a component. Returns the length from before, for `cut_path`. */
size_t append_name(struct path *path, const char *name);
void cut_path(struct path *path, size_t length);
/* Opens a directory below AT through no symbolic link, or returns -1. */
int open_below(int at, const char *path);
/* A directory could not be opened. If too many are open already, the tree is too deep. */
__attribute__((noreturn)) void die_open(const char *on);

/* The part of a directory that one layer has. */
struct part {
  int layer; /* index in the list of the command line */
  int fd;
};

/* A directory as OverlayFS merges it, topmost part first. */
struct merged {
  size_t count, depth;
  bool closed; /* nothing from layers further below can show through */
  struct part parts[];
};

/* The entry that a name in a merged directory stands for. */
struct found {
  const struct merged *parent;
  struct part in; /* the part of the parent that has it */
  const char *name;
  struct statx stat;
};

/* merge.c */
int open_layer(const char *path);
const char *layer_path(const char *layer, bool *host_ids); /* of host:PATH or cell:PATH */
struct merged *merge_layers(char **layers, size_t count);
bool is_opaque(int directory);
bool is_whiteout(const struct statx *info);
bool stat_name(int directory, const char *name, struct statx *info); /* false if it does not exist */
bool find_name(const struct merged *directory, const char *name, struct found *found);
struct merged *descend(const struct merged *directory, const char *name); /* NULL if it is not a directory */
void release(struct merged *directory);
/* Visits the names of a merged directory in byte order, as the layers together show them. */
void each_name(const struct merged *directory, void (*visit)(const struct found *, void *), void *with);
/* The same with topmost whiteouts. */
void each_entry(const struct merged *directory, void (*visit)(const struct found *, void *), void *with);

/* walk.c */
struct walk;
struct walk *walk_layers(char **layers, size_t count);
/* False if nothing is there. `found->name` points into PATH. */
bool resolve(struct walk *walk, char *path, struct found *found);
/* In the topmost layer alone, where a whiteout is an entry, too. */
bool resolve_raw(struct walk *walk, char *path, struct found *found);
char *next_path(void); /* from stdin, up to a NUL; NULL at the end */

/* record.c */
void print_entry(int layer, int directory, const char *name, const struct statx *info, bool opaque, const char *path);
void print_missing(const char *path);

/* content.c */
int open_regular(const struct found *found, struct stat *info); /* -1 if it is not a regular file, or gone */

/* links.c: remembers where the first copy of a file with several names is. LINKS starts as NULL. */
char *first_place(void *const *links, const struct found *found); /* NULL: there is none */
/* Makes NAME a link to the first copy below ROOT. False if there is no copy, or it can have no more links. */
bool link_to_first(void *const *links, const struct found *found, int root, int in, const char *name);
void remember_place(void **links, const struct found *found, const char *place);

/* copy.c: keeps holes if the file system reports them */
void copy_content(const char *path, int from, int to, off_t size);

/* view.c */
size_t count_words(char **words);
void allow_many_files(void);
void allow_deep_trees(void); /* down to DEEPEST */
void verb_punch(char **words);
void verb_scan(char **words);
void verb_lookup(char **words);
void verb_list(char **words);
void verb_read(char **words);
void verb_compare(char **words);
void begin_view(void); /* before any of them, and `archive` */

/* scan.c, lookup.c, content.c: what those verbs do */
void scan(const char *path);
void lookup(char **layers, size_t count);
void list(char **layers, size_t count);
void read_files(char **layers, size_t count);
void compare_files(char **before, size_t before_count, char **after, size_t after_count);
/* rejoin.c, squash.c */
void verb_rejoin(char **words);
void verb_squash(char **words);
