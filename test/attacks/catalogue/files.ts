import type { PromiseAttacks } from './types.ts'

export const filePromises: readonly PromiseAttacks[] = [
  {
    promise: 'No file of the host changes, whatever is done to it inside.',
    attacks: [
      'host-file-write',
      'host-file-reopen',
      'host-file-truncate',
      'host-file-unlink',
      'host-file-create',
      'host-file-chmod',
      'host-file-chown',
      'host-file-rename',
      'host-file-exchange',
      'host-file-link',
      'host-file-touch',
      'host-file-map',
      'host-file-splice',
      'host-file-punch',
      'host-file-xattr',
      'host-file-immutable',
      'host-symlink-make',
      'host-directory-make',
      'host-directory-remove',
    ],
  },
  {
    promise: 'Locks, pipes, sockets and file changes of the host are out of reach.',
    attacks: [
      'host-file-flock',
      'host-file-lock',
      'host-file-spy',
      'host-fifo-write',
      'host-socket-connect',
    ],
  },
  {
    promise: 'Nothing written inside can affect an overlay of the host.',
    attacks: ['overlay-attribute', 'security-attribute', 'whiteout-make', 'whiteout-by-rename'],
  },
  {
    promise: 'What the mask hides cannot be read by any other name.',
    attacks: [
      'mask-read',
      'mask-list',
      'mask-by-proc-root',
      'mask-by-init-root',
      'mask-by-dots',
      'mask-uncover',
      'mask-by-link',
      'mask-by-moved-parent',
      'mask-by-processes',
      'mask-by-handle',
    ],
  },
  {
    promise: 'No home of Forkpoint can be seen, neither the one in use nor another.',
    attacks: ['home-list', 'home-in-mountinfo', 'other-home-list'],
  },
]
