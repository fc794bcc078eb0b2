import type { PromiseAttacks } from './types.ts'

/** Poses of the program (../program/pose.c) that every user can take. */
export const namePromises: readonly PromiseAttacks[] = [
  {
    promise:
      'No name of a deleted file leads a snapshot, a fork or a restore out of the environment.',
    attacks: [
      'ghost-directory',
      'ghost-directory-over-directory',
      'ghost-directory-over-file',
      'ghost-file',
      'ghost-over-file',
      'ghost-deep',
      'ghost-by-dots',
      'ghost-by-proc',
      'ghost-fifo',
      'ghost-working-directory',
      'ghost-mapping',
      'ghost-locked',
      'ghost-program',
      'ghost-long',
      'second-name',
      'watched-ghost',
    ],
  },
  {
    promise: 'Nor does the name of a socket or of a watched file.',
    attacks: ['socket-moved', 'socket-unlinked', 'socket-relative', 'watched-directory'],
  },
  {
    promise: 'Any bytes may be a name, and none makes an environment unusable.',
    attacks: [
      'second-name-in-bytes',
      'second-name-in-lost-bytes',
      'name-deleted-suffix',
      'name-control-characters',
    ],
  },
]

/** Those that need root inside. */
export const rootNamePromises: readonly PromiseAttacks[] = [
  {
    promise: 'Nor does the name of a directory that is the root of a process.',
    attacks: ['ghost-root'],
  },
]
