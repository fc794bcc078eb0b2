/* The writable side of a cell in a btrfs subvolume: the directories `upper` and `work` of its overlay. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Makes the subvolume PATH with an empty upper and work directory, which belong to OWNER. ROOT, if given, is what the
 * upper has instead, as MODE:UID:GID. */
void create_files(const char *path, uint32_t owner, const char *root);
/* Makes the subvolume PATH with everything that the snapshot FROM holds, ready to be mounted. */
void clone_files(const char *from, const char *path);

/* Makes the copy of FROM that was made ahead the subvolume PATH. False if there is none. */
bool take_ahead(const char *from, const char *path);

int open_parent(const char *path);
void take_snapshot(const char *from, const char *to, uint64_t flags);
void delete_subvolume(const char *path);
/* Removes what a mounted overlay has in its work directory, which another one refuses. False with errno. */
bool clear_work(const char *path);
/* Makes an overlay that was mounted from the original of this copy mountable; see clone.c. */
void prepare_clone(const char *path);

/* Removes what the kernel counts for subvolumes that are gone, of which nothing is left; see sweep.c. */
void remove_unused_counts(int fd);

void verb_subvolume_snapshot(char **words);
void verb_subvolume_flush(char **words);
void verb_subvolume_ahead(char **words);
void verb_subvolume_delete(char **words);
void verb_subvolume_written(char **words);
void verb_subvolume_send(char **words);
void verb_subvolume_peek(char **words);
void verb_subvolume_limit(char **words);
void verb_subvolume_unlimit(char **words);
void verb_resize_files(char **words);
void verb_back_metadata(char **words);
