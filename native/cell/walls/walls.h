/* What keeps a cell in: capabilities, limits, system calls, cgroups, devices and ids. */
#pragma once

#include "spec.h"

/* remask.c: hides kernel interfaces in a cell that exists; cheap if nothing is left to hide */
void mask_made_cell(pid_t pid);
void verb_mask(char **words);

/* harden.c */
void drop_capabilities(void);
/* Limits foreverything that is started from now on. A user namespace also keeps its maker's soft limits on
 * signals, queues and locked memory, for as long as it exists and for all its users together. */
void bound_cell(void);
/* Only the limits that a namespace keeps: each process that CRIU restores has limits of its own, which may be
 * higher. */
void bound_namespace(void);

/* filter.c */
void install_syscall_filter(void);
void verb_filter(char **words);

/* cgroup.c */
/* Fills in what `clone_into` needs to start a process in the cgroups of SPEC. Returns their number, or 0 if a
 * process cannot be started there. */
size_t groups_to_enter(const struct spec *spec, struct doorway *groups);
/* Moves the process into the cgroups of SPEC, unless it is there. */
void join_cgroups(const struct spec *spec, pid_t pid);
void set_frozen(const char *cgroup, bool frozen);
/* With cgroup v1, a frozen process does not die before it is thawed. */
void let_killed_end(const char *cgroup);

/* devices.c */
/* Limits the devices of all cells of the home that CGROUP belongs to. False if the kernel cannot. */
bool limit_devices(const char *cgroup);
void verb_limit_devices(char **words);

/* users.c */
int open_user_namespace(pid_t pid);
void map_users(const struct spec *spec, pid_t pid);
/* Starts a process that holds a user namespace for shifting ids. It can be made before the ids are known. */
pid_t start_mapping(void);
/* Give that namespace its ids, end its holder, and return the namespace. */
int map_cell_ids(const struct spec *spec, pid_t holder);
int map_disk_ids(const struct spec *spec, pid_t holder);

/* template.c */
void verb_whiteouts(char **words);
void verb_opaque(char **words);
void verb_devices(char **words);
