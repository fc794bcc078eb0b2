import type { PromiseAttacks } from './types.ts'

/** What the host does with files that came from inside. */
export const copyPromises: readonly PromiseAttacks[] = [
  {
    promise: 'Nothing written inside controls `apply`.',
    attacks: ['apply-planted-plan', 'apply-own-name', 'apply-plan-pipe'],
  },
  {
    promise: 'No copy goes through a link that came from inside, and none keeps setuid bits.',
    attacks: [
      'apply-through-link',
      'copy-through-link',
      'copy-through-dots',
      'copy-onto-link',
      'export-through-link',
      'copy-setuid',
    ],
  },
]

/** What the host does with an agent that hostile code has changed or replaced. */
export const agentPromises: readonly PromiseAttacks[] = [
  {
    promise: 'The host talks to the socket that the agent bound, and to nothing else.',
    attacks: ['agent-socket-link', 'agent-socket-impostor', 'agent-identity-link'],
  },
  {
    promise: 'No agent can block the host, lock it out, or prevent the removal of its environment.',
    attacks: ['agent-connections', 'agent-stopped'],
  },
]

/** What needs more than one environment. */
export const boundPromises: readonly PromiseAttacks[] = [
  {
    promise: 'The device policy holds even if a file system allows devices.',
    attacks: ['disk-without-nodev'],
  },
  {
    promise: 'If an environment fills the volume, its neighbours can still run commands.',
    attacks: ['volume-full'],
  },
  {
    promise: 'A tree deeper than a path is read, copied and compared like any other.',
    attacks: ['tree-too-deep'],
  },
  {
    promise:
      'Text from inside is printed without control characters, and a terminal repeats no effects.',
    attacks: ['text-control-characters', 'terminal-clipboard'],
  },
  {
    promise: 'A snapshot reads no more of oversized programs than its budget allows.',
    attacks: ['program-all-size'],
  },
]
