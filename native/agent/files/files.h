/* File operations. Paths are absolute, and resolved inside. */
#pragma once

#include <sys/stat.h>

#include "fields.h"

struct stream;

/* file-info.c */
void op_file_stat(struct stream *stream, const struct fields *fields);
void op_file_setattr(struct stream *stream, const struct fields *fields);
void put_status(struct buffer *fields, int directory, const char *name, const struct stat *status);

/* file-list.c */
void op_file_list(struct stream *stream, const struct fields *fields);

/* file-read.c */
void op_file_read(struct stream *stream, const struct fields *fields);

/* file-write.c */
void op_file_write(struct stream *stream, const struct fields *fields);

/* file-change.c */
void op_file_mkdir(struct stream *stream, const struct fields *fields);
void op_file_rename(struct stream *stream, const struct fields *fields);
void op_file_symlink(struct stream *stream, const struct fields *fields);

/* Makes all missing directories above PATH. 0, or -1 with an error. */
int make_parents(const char *path, struct error *error);

/* file-remove.c */
void op_file_remove(struct stream *stream, const struct fields *fields);

/* The absolute path under this key, or NULL after an error was sent. */
char *path_field(struct stream *stream, const struct fields *fields, uint16_t key);
