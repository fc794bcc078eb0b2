import type { PromiseAttacks } from './types.ts'

export const processPromises: readonly PromiseAttacks[] = [
  {
    promise: 'Root inside has thirteen capabilities, and no program gives it another.',
    attacks: [
      ...['capability-set', 'capability-bounding', 'capability-permitted', 'capability-ambient'],
      ...['capability-by-file', 'capability-by-setuid'],
    ],
  },
  {
    promise: 'No user outside of the mapped ones can be had.',
    attacks: ['setuid-unmapped', 'setgid-unmapped', 'setgroups-unmapped', 'chown-unmapped'],
  },
  {
    promise: 'No process can put itself before those of the host.',
    attacks: [
      ...['nice-below-zero', 'realtime', 'io-realtime', 'memory-lock', 'oom-protection'],
      ...['wake-alarm', 'limit-raise-files', 'limit-raise-signals', 'limit-raise-queues'],
      'limit-raise-locked-memory',
    ],
  },
  {
    promise: 'The names of the host and of its network stay.',
    attacks: ['hostname-set', 'domainname-set'],
  },
  {
    promise: 'Processes of the host and of other environments are not seen and not reached.',
    attacks: [
      ...['process-see', 'process-find', 'process-kill', 'process-tgkill', 'process-sigqueue'],
      ...['process-kill-all', 'process-pidfd', 'process-read-memory', 'process-write-memory'],
      ...['process-kcmp', 'process-limits', 'process-affinity', 'process-robust-list'],
      ...['process-nice', 'process-nice-user', 'process-io-priority', 'process-signal-owner'],
      ...['process-seize', 'process-trace', 'proc-environ'],
    ],
  },
  {
    promise: 'Shared memory, queues, semaphores and named sockets of the host are not there.',
    attacks: [
      ...['shared-memory-find', 'shared-memory-list', 'shared-memory-file', 'message-queue-find'],
      ...['semaphores-find', 'posix-queue-open', 'posix-queue-unlink', 'abstract-socket-connect'],
      'abstract-socket-list',
    ],
  },
  {
    promise: 'An environment gets no more processes and memory than its limits.',
    attacks: [...['processes-beyond-limit', 'memory-beyond-limit'], 'shared-memory-beyond-limit'],
  },
  {
    promise: 'A flood inside of what the kernel counts costs nobody outside anything.',
    attacks: [
      ...['flood-signals', 'flood-queues', 'flood-aio', 'flood-inotify', 'flood-terminals'],
      ...['flood-pipes', 'flood-in-flight', 'flood-keys'],
    ],
  },
]
