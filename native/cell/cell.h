/* The cell: the namespaces, mounts and limits an environment lives in. */
#pragma once

#include "../shared/clone-into.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CELL_MAX_LAYERS 500 /* the kernel's own limit for OverlayFS */
#define CELL_MAX_CGROUPS MOST_GROUPS
#define ENV_SOCKET_DIR "run/forkpoint"
#define CELL_MAX_SHOWN 8
#define AGENT_PATH "/.forkpoint/agent"
#define WORK_DIRECTORY 100 /* descriptor of the directory that CRIU writes its log to */
#define PAGES_DIR ".forkpoint/pages"

struct layer {
  const char *path;
  bool host_ids; /* files carry host ids: mount it idmapped */
};

struct spec {
  const char *env;   /* the environment's directory: upper/, work/, run/, stage/ */
  const char *dev;   /* host-made template bound at /dev */
  const char *pages; /* directory of memory pages to map, or NULL */
  const char *kdat;  /* tmpfs directory that becomes /run for CRIU */
  const char *hostname;
  const char *veth;    /* host side interface name, NULL without network */
  const char *address; /* inside address, A.B.C.D */
  const char *gateway; /* host side address */
  unsigned prefix;     /* of both addresses */
  uint32_t pid;        /* of a running cell, for `connect` */
  const char *preload; /* library that is loaded into CRIU */
  const char *images;  /* directory that CRIU dumps into or restores from */
  bool hold;           /* freeze what is restored before it runs */
  uint32_t id_base, id_count; /* of this cell */
  uint32_t disk_base;         /* of every cell's files, on disk */
  bool no_new_privs;
  size_t layer_count, cgroup_count, shown_count;
  struct layer layers[CELL_MAX_LAYERS];     /* topmost first */
  const char *cgroups[CELL_MAX_CGROUPS];    /* directories to join; the v2 one first */
  const char *shown[CELL_MAX_SHOWN];        /* what CRIU needs of the host to run, read-only */
};

/* Every failure is fatal here: the process exists to set up one cell. */
__attribute__((noreturn)) void die(const char *what, const char *on);
__attribute__((noreturn)) void die_usage(const char *what, const char *value);
/* From now on `die` writes its report to this descriptor (the parent reads it). */
void report_errors_to(int fd);

void write_file(const char *path, const char *text);
int open_user_namespace(pid_t pid);

/* stage.c: the mounts that need the host's privileges, in a private namespace */
void enter_private_mounts(void);
/* User namespaces that shift the ids of what is mounted: the host's own, and those that cells have on disk. */
struct mappings {
  int cell, disk;
};
void stage_mounts(const struct spec *spec, struct mappings mappings);
/* A detached copy of the mount at PATH; ids are shifted unless USER_NAMESPACE is -1. */
int clone_mount(const char *path, int user_namespace, uint64_t extra_attributes);
void attach(int mount, const char *to);
void make_directory(const char *path); /* fine if it is there */
/* names.c: what a sandbox has named */
void require_mountpoints(void);
void check_names(const char *names, size_t length);
/* inside.c: what the first process does before it becomes the agent */
__attribute__((noreturn)) void become_agent(const struct spec *spec);
/* Below the current directory, a cell's root; what is masked already stays as it is. */
void mask_kernel_interfaces(void);
#define NEWEST_MASK "sys/devices/virtual/block" /* a cell that has this one has all of them */
#define MOST_TERMINALS "512"                     /* they are numbered for the whole machine */
#define DEVPTS_FLAGS (MS_NOSUID | MS_NOEXEC)
#define DEVPTS_OPTIONS "ptmxmode=0666,mode=0620,gid=5,max=" MOST_TERMINALS
/* remask.c: the same in a cell that is there already, by a process of it; cheap if there is nothing to do */
void mask_made_cell(pid_t pid);
/* harden.c */
void drop_capabilities(void);
/* Limits of what is started from now on. A user namespace keeps, for good and for all its users together,
 * the soft limits of signals, queues and locked memory of whoever makes it. */
void bound_cell(void);
/* Only what a namespace keeps: each process that CRIU restores has limits of its own, some of them higher. */
void bound_namespace(void);
/* filter.c */
#define FILTER_ROOM 512 /* of instructions; there are about 230 */
struct sock_filter;
/* How many instructions it has. */
size_t build_syscall_filter(struct sock_filter *code, size_t room);
void install_syscall_filter(void);
int print_syscall_filter(void);
/* net.c */
void bring_loopback_up(void);
void create_veth(const struct spec *spec, pid_t peer);
void configure_inside(const struct spec *spec);
/* Makes the pair anew and configures both ends; the cell may be frozen. */
void enter_network(pid_t pid);
void connect_cell(const struct spec *spec, pid_t pid);
void delete_link(const char *interface); /* fine if it is not there */
/* connections.c */
void forget_connections(const char *address);
/* restored.c */
void set_up_network(const struct spec *spec, pid_t pid);
void set_hostname(const char *hostname, pid_t pid);
/* worker.c */
int run_worker(const struct spec *prepared, char **program);
/* keeper.c */
int run_keeper(void);
/* cgroup.c */
/* What `clone_into` needs to start a process in the cgroups of SPEC; 0 if it cannot. */
size_t groups_to_enter(const struct spec *spec, struct doorway *groups);
/* Fine if it is there already. */
void join_cgroups(const struct spec *spec, pid_t pid);
void set_frozen(const char *cgroup, bool frozen);
/* In v1, what is frozen does not even die. */
void let_killed_end(const char *cgroup);
/* devices.c: false where the kernel cannot */
bool limit_devices(const char *cgroup);
/* The same for the group above those of a home's cells. */
bool limit_home_devices(const char *group);
/* main.c */
int parse_options(struct spec *spec, int argc, char **argv);
void require_cell(const struct spec *spec);
/* users.c */
void map_users(const struct spec *spec, pid_t pid);
/* A user namespace only to shift ids: made ahead, and given its ids when they are known. */
pid_t start_mapping(void);
int map_cell_ids(const struct spec *spec, pid_t holder);
int map_disk_ids(const struct spec *spec, pid_t holder);
/* template.c */
void make_whiteouts(char **paths);
void make_opaque(char **paths);
void make_devices(const char *directory);
/* relink.c: PID is the host's number of the cell's first process */
/* Gives each file that a path below /proc inside leads to the name that comes after it. */
void relink(const char *pid);
void unlink_inside(const char *pid);
/* A letter for each: in a directory that no link leads to it is (f)ree or (t)aken; the directory is (g)one;
 * a (l)ink leads there, or something is no directory. */
void judge_names(const char *pid);
/* rejoin.c */
void rejoin_links(const char *pid, const char *index, char **layers);
/* rewatch.c */
void rewatch(const char *cgroup);
/* relock.c: takes fcntl locks for the processes of a frozen cell, and thaws it unless it is to stay */
void relock(const char *cgroup, bool stays_frozen);
