import type { Program } from './program.ts'

/** One of every kind, above all those that do something all the time, or hold what wears out. */
const chosen = new Set([
  'copied-up-files',
  'hard-links',
  'deleted-file',
  'half-read-directory',
  'file-under-work',
  'shared-mapping',
  'flock-held',
  'unread-events',
  'sleep',
  'poll',
  'epoll-wait',
  'futex',
  'semtimedop',
  'sigtimedwait',
  'waits-in-threads',
  'pipe-write',
  'receive-whole',
  'interval-ticks',
  'clocks',
  'busy-pipe',
  'edge-triggered',
  'unix-stream',
  'tcp-busy',
  'tcp-half-closed',
  'udp-queued',
  'start-times',
  'running-child',
  'counted-signals',
  'written-pages',
  'moving-areas',
  'copied-on-write',
  'find',
  'tar-extract',
  'tail',
  'perl-sleep',
  'sqlite-connections-wal',
  'sqlite-processes-wal',
  'outside-download',
])

/**
 * What runs through a hundred snapshots in `npm test`: a dump of all programs takes seconds, most of them for
 * processes that are asleep. `npm run test:soak` takes all.
 */
export function hundredfold(all: readonly Program[]): readonly Program[] {
  if (process.env.FORKPOINT_SOAK_SNAPSHOTS !== undefined) return all
  const those = all.filter(({ name }) => chosen.has(name))
  const missing = [...chosen].filter((name) => !all.some((program) => program.name === name))
  if (missing.some((name) => !name.startsWith('outside'))) throw new Error(`no ${missing.join()}`)
  return those
}
