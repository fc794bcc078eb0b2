/* Reading the tree of a subvolume. */
#pragma once

#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdbool.h>
#include <stdint.h>

int open_subvolume(const char *path);
struct btrfs_ioctl_get_subvol_info_args subvolume_info(int fd, const char *path);

/* Visits each item from the minimum of KEY on, in order. Its tree 0 is that of the subvolume that FD is in. An item is
 * as long as its header says. */
void each_item(int fd, struct btrfs_ioctl_search_key key,
               void (*visit)(const struct btrfs_ioctl_search_header *, const void *, void *), void *with);
