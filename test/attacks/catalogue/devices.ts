import type { PromiseAttacks } from './types.ts'

export const devicePromises: readonly PromiseAttacks[] = [
  {
    promise: 'No device node can be made.',
    attacks: [
      'node-memory',
      'node-kmsg',
      'node-console',
      'node-null',
      'node-tun',
      'node-fuse',
      'node-kvm',
      'node-loop-control',
      'node-loop',
      'node-disk',
    ],
  },
  {
    promise: 'A device node that the files of the host show cannot be opened.',
    attacks: [
      'lower-character-device',
      'lower-kmsg-device',
      'lower-disk-read',
      'lower-disk-write',
      'lower-device-link',
    ],
  },
  {
    promise: '`/dev` holds harmless devices only, and cannot be changed.',
    attacks: [
      'dev-kmsg',
      'dev-fuse',
      'dev-tun',
      'dev-loop-control',
      'dev-remove',
      'dev-create',
      'dev-chmod',
      'dev-rename',
      'dev-touch',
      'random-reseed',
    ],
  },
]
