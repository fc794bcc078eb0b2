import type { PromiseAttacks } from './types.ts'

const refusedCalls = [
  ...['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'userfaultfd', 'clone3', 'bpf'],
  ...['perf_event_open', 'keyctl', 'add_key', 'request_key', 'kexec_load', 'init_module'],
  ...['finit_module', 'delete_module', 'open_by_handle_at', 'acct', 'swapon', 'swapoff', 'reboot'],
  ...['settimeofday', 'clock_settime', 'adjtimex', 'clock_adjtime', 'quotactl', 'lookup_dcookie'],
  ...['syslog', 'vhangup', 'fanotify_init', 'setns', 'process_madvise', 'move_pages', 'mbind'],
  ...['set_mempolicy', 'migrate_pages', 'io_setup', 'kexec_file_load', 'iopl', 'ioperm', 'uselib'],
  ...[
    'ustat',
    'sysfs',
    'modify_ldt',
    'io_destroy',
    'io_submit',
    'io_getevents',
    'io_cancel',
    'io_pgetevents',
    'kcmp',
    'fanotify_mark',
    'memfd_secret',
    'cachestat',
    'quotactl_fd',
    'set_mempolicy_home_node',
    'statmount',
    'listmount',
    'open_tree_attr',
  ],
]

export const kernelPromises: readonly PromiseAttacks[] = [
  {
    promise: 'Nothing can be mounted, unmounted, moved or mounted differently.',
    attacks: [
      ...['mount-tmpfs', 'mount-ramfs', 'mount-proc', 'mount-sysfs', 'mount-devpts'],
      ...['mount-devtmpfs', 'mount-mqueue', 'mount-cgroup2', 'mount-cgroup-release-agent'],
      ...['mount-bpf', 'mount-debugfs', 'mount-tracefs', 'mount-securityfs', 'mount-binfmt-misc'],
      ...['mount-overlay', 'mount-fuse', 'mount-disk', 'mount-bind', 'mount-move', 'mount-share'],
      ...['mount-setattr-root', 'mount-setattr-proc-sys', 'move-mount', 'open-tree', 'fsopen'],
      ...[
        'fspick',
        'pivot-root',
        'mount-point-run',
        'mount-point-pages',
        'remount-root-dev',
        'remount-proc-sys',
        'remount-sys',
      ],
      ...['remount-dev', 'unmount-proc-sys', 'unmount-dev', 'unmount-firmware', 'unmount-run'],
    ],
  },
  {
    promise: 'No namespace can be made or entered.',
    attacks: [
      ...['unshare-user', 'unshare-mount', 'unshare-network', 'unshare-ipc', 'unshare-uts'],
      ...['unshare-pid', 'unshare-cgroup', 'unshare-time', 'clone-user', 'clone-user-mount'],
      ...['clone-mount', 'clone3-user', 'setns-self', 'setns-init', 'setns-pidfd'],
      ...['next-mount-namespace', 'previous-mount-namespace', 'chroot-escape'],
    ],
  },
  {
    promise: 'No process inside is in a namespace of the host.',
    attacks: [
      ...['host-mount-namespace', 'host-pid-namespace', 'host-network-namespace'],
      ...['host-ipc-namespace', 'host-uts-namespace', 'host-user-namespace'],
      'host-cgroup-namespace',
    ],
  },
  {
    promise: 'The system calls of the filter are refused.',
    attacks: [
      ...refusedCalls.map((call) => `call-${call}`),
      ...['huge-pages-map', 'huge-pages-file', 'huge-pages-segment'],
      ...['socket-filter', 'socket-group-filter'],
      'filter-drop',
      'terminal-type-for-others',
      'terminal-discipline',
      'personality',
    ],
  },
  {
    promise: 'System calls of another architecture are no way around.',
    attacks: ['call-32-bit', 'call-x32'],
  },
  {
    promise: 'Nothing in `/proc` and `/sys` that concerns the machine can be written.',
    attacks: [
      ...['sysctl-core-pattern', 'sysctl-hostname', 'sysctl-panic', 'sysctl-printk'],
      ...['sysctl-poweroff-command', 'sysctl-last-pid', 'sysctl-randomize'],
      ...['sysctl-usermodehelper', 'sysctl-pty-max', 'sysctl-keys', 'sysctl-threads'],
      ...['sysctl-shared-memory', 'sysctl-drop-caches', 'sysctl-overcommit'],
      ...['sysctl-mmap-min-addr', 'sysctl-file-max', 'sysctl-suid-dumpable'],
      ...['sysctl-protected-symlinks', 'sysctl-pipe-pages', 'sysctl-inotify'],
      ...['sysctl-message-queues', 'sysctl-aio', 'sysctl-ip-forward', 'proc-irq', 'proc-mtrr'],
      'proc-pressure',
      ...['sys-tracing', 'sys-rcu', 'sys-profiling', 'sys-hugepages', 'sys-cpu-offline'],
      ...['sys-clocksource', 'sys-disk-queue', 'sys-uevent', 'sys-interface'],
    ],
  },
  {
    promise: 'The kernel tells nothing of its own memory, keys and timers.',
    attacks: [
      ...['proc-slabinfo', 'proc-vmallocinfo', 'proc-timer-list', 'proc-keys', 'proc-kmsg'],
      ...['proc-kpagecount', 'proc-kpageflags', 'proc-pagetypeinfo', 'proc-iomem'],
      ...['proc-kallsyms', 'proc-pagemap', 'sys-firmware'],
    ],
  },
  {
    promise: 'Nothing in `/proc` and `/sys` names a home, a volume or another environment.',
    attacks: [
      ...['cgroup-names-home', 'cgroup-of-init-names-home', 'sys-cgroup', 'loop-backing-file'],
      ...['loop-backing-file-by-class', 'loop-backing-file-by-number'],
      'loop-backing-file-by-device',
    ],
  },
]
