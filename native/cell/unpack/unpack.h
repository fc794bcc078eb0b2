/* Unpacks a layer of a container image, which comes from strangers, into an empty directory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define MOST_ATTRIBUTES 32

struct attribute {
  char *name;
  void *value;
  size_t length;
};

struct member { /* of an archive */
  char type;    /* as in its header */
  char *name;   /* checked: relative, without `..` and without `.`; empty for the directory itself */
  char *target; /* of a link, as it is in the archive; else empty */
  mode_t mode;  /* permissions only */
  uid_t uid;
  gid_t gid;
  uint64_t size; /* bytes of content that follow */
  struct timespec mtime;
  size_t attribute_count;
  struct attribute attributes[MOST_ATTRIBUTES];
};

/* reader.c: the next member of the archive on stdin; false at its end */
bool next_member(struct member *member);
void free_member(struct member *member);
/* Copies the content of the member to FD; -1: nowhere. */
void take_content(const struct member *member, int fd);
/* Reads to the end, so that whoever writes to us is not cut off. */
void drain_input(void);
/* NAME for a message: control characters become `?`. In a buffer that the next call uses again. */
const char *shown(const char *name);

/* names.c: NAME without `.` and doubled slashes; ends the process if it leads out of the directory */
char *checked_name(const char *name, const char *what);

/* place.c: puts a member below ROOT */
void place_member(int root, const struct member *member);

/* unpack.c */
void verb_unpack(char **words);
