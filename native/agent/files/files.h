/* File operations. Paths are absolute, and resolved inside. */
#pragma once

#include <sys/stat.h>

#include "fields.h"

struct stream;

/* What a record or a result says that an entry is. */
enum { TYPE_FILE = 1, TYPE_DIRECTORY, TYPE_SYMLINK, TYPE_OTHER };

/* file-info.c */
void op_file_stat(struct stream *stream, const struct fields *fields);
void op_file_setattr(struct stream *stream, const struct fields *fields);
void put_status(struct buffer *fields, int directory, const char *name, const struct stat *status);

/* Sets the mode, the owner and the time that the fields have. Never follows a symlink. 0, or -1 with an error. */
int file_change(const char *path, const struct fields *fields, struct error *error);

/* file-xattrs.c */

/* Puts the extended attributes `user.*` of what is there; FLAGS may be O_NOFOLLOW. */
void put_xattrs(struct buffer *fields, int directory, const char *name, int flags);

/* Sets attributes that were given as "NAME=VALUE"; XATTRS may be NULL. 0, or -1 with an error. */
int set_xattrs(int fd, const char *path, char **xattrs, struct error *error);

/* file-list.c */
void op_file_list(struct stream *stream, const struct fields *fields);

/* file-read.c */
void op_file_read(struct stream *stream, const struct fields *fields);

/* file-write.c */
void op_file_write(struct stream *stream, const struct fields *fields);

/* Writes a whole file, as op_file_write does with the same fields. Takes *PATH over. 0, or -1 with an error. */
int file_put(char **path, const struct fields *fields, const uint8_t *bytes, size_t length, struct error *error);

/* file-change.c */
void op_file_mkdir(struct stream *stream, const struct fields *fields);
void op_file_rename(struct stream *stream, const struct fields *fields);
void op_file_symlink(struct stream *stream, const struct fields *fields);

/* Makes a directory, unless it exists. 0, or -1 with an error. */
int make_directory(const char *path, mode_t mode, struct error *error);

/* Makes all missing directories above PATH. 0, or -1 with an error. */
int make_parents(const char *path, struct error *error);

/* file-remove.c */
void op_file_remove(struct stream *stream, const struct fields *fields);

/* tree-read.c, tree-write.c */
void op_tree_read(struct stream *stream, const struct fields *fields);
void op_tree_write(struct stream *stream, const struct fields *fields);

/* The absolute path under this key, or NULL after an error was sent. */
char *path_field(struct stream *stream, const struct fields *fields, uint16_t key);
