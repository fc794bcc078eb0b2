/* System calls that are refused inside whatever their arguments are: ENOSYS where a program should try another
 * way, EPERM where it should give up. Most of these need capabilities that nobody inside has. Refusing them here
 * also keeps a cell away from faults in their code. */
#define _GNU_SOURCE
#include "refused-calls.h"

#include <errno.h>
#include <sys/syscall.h>

/* Newer than the headers of some machines. The numbers are the same on every architecture. */
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

const struct refusal refusals[] = {
    /* CRIU cannot dump these; the flags of clone3 are invisible to a filter */
    {SYS_io_uring_setup, ENOSYS},
    {SYS_io_uring_enter, ENOSYS},
    {SYS_io_uring_register, ENOSYS},
    {SYS_userfaultfd, ENOSYS},
    {SYS_memfd_secret, ENOSYS},
    {SYS_clone3, ENOSYS},
    /* fs.aio-max-nr is one limit for the whole machine */
    {SYS_io_setup, ENOSYS},
    {SYS_io_destroy, ENOSYS},
    {SYS_io_submit, ENOSYS},
    {SYS_io_getevents, ENOSYS},
    {SYS_io_cancel, ENOSYS},
    {SYS_io_pgetevents, ENOSYS},
    /* shows which parts of shared files the host has read */
    {SYS_cachestat, ENOSYS},
    /* the kernel itself */
    {SYS_bpf, EPERM},
    {SYS_perf_event_open, EPERM},
    {SYS_kexec_load, EPERM},
    {SYS_init_module, EPERM},
    {SYS_finit_module, EPERM},
    {SYS_delete_module, EPERM},
    {SYS_reboot, EPERM},
    {SYS_syslog, EPERM},
    {SYS_lookup_dcookie, EPERM},
    {SYS_acct, EPERM},
    {SYS_swapon, EPERM},
    {SYS_swapoff, EPERM},
    {SYS_settimeofday, EPERM},
    {SYS_clock_settime, EPERM},
    {SYS_adjtimex, EPERM},
    {SYS_clock_adjtime, EPERM},
    {SYS_vhangup, EPERM},
    {SYS_kcmp, EPERM},
    /* no namespace separates the keys of cells */
    {SYS_keyctl, EPERM},
    {SYS_add_key, EPERM},
    {SYS_request_key, EPERM},
    /* files and mounts */
    {SYS_open_by_handle_at, EPERM},
    {SYS_quotactl, EPERM},
    {SYS_quotactl_fd, EPERM},
    {SYS_fanotify_init, EPERM},
    {SYS_fanotify_mark, EPERM},
    {SYS_mount, EPERM},
    {SYS_umount2, EPERM},
    {SYS_pivot_root, EPERM},
    {SYS_fsopen, EPERM},
    {SYS_fsconfig, EPERM},
    {SYS_fsmount, EPERM},
    {SYS_fspick, EPERM},
    {SYS_open_tree, EPERM},
    {SYS_move_mount, EPERM},
    {SYS_mount_setattr, EPERM},
    {SYS_open_tree_attr, EPERM},
    {SYS_statmount, ENOSYS},
    {SYS_listmount, ENOSYS},
    {SYS_setns, EPERM},
    /* placement of memory */
    {SYS_process_madvise, EPERM},
    {SYS_move_pages, EPERM},
    {SYS_migrate_pages, EPERM},
    {SYS_mbind, EPERM},
    {SYS_set_mempolicy, EPERM},
    {SYS_set_mempolicy_home_node, EPERM},
#ifdef SYS_kexec_file_load
    {SYS_kexec_file_load, EPERM},
#endif
#if defined(__x86_64__)
    {SYS_iopl, EPERM},
    {SYS_ioperm, EPERM},
    {SYS_uselib, ENOSYS},
    {SYS_ustat, ENOSYS},
    {SYS_sysfs, ENOSYS},
    {SYS_modify_ldt, ENOSYS},
#endif
};

const size_t refusal_count = sizeof refusals / sizeof *refusals;
