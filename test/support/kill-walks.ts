import { type KillPoint, killPoints } from '../../src/linux/kill-points.ts'
import { type Kind, volumeKind, volumeKinds } from './volume-kind.ts'

const launch = ['launch:directories', 'launch:cgroups', 'launch:alive'] as const
const firstLaunch = ['launch:directories', 'launch:cgroups', 'launch:net', 'launch:alive'] as const

const pointsOf = (verb: string) => killPoints.filter((point) => point.startsWith(`${verb}:`))

/**
 * Only on one kind of volume does a snapshot have a successor, and layers that can be squashed; only on the
 * other can one be removed that others came after.
 */
const byKind = {
  ext4: {
    capture: ['begun', 'frozen', 'shared', 'dumped', 'sealed'],
    successor: launch,
    compact: pointsOf('squash'),
    reclaim: [],
  },
  btrfs: {
    capture: ['begun', 'frozen', 'dumped', 'named', 'copied', 'thawed', 'shared'],
    successor: [],
    compact: ['squash:begun', 'squash:recorded', 'squash:owned'],
    reclaim: ['prune:discarded', ...pointsOf('reclaim')],
  },
} as const

/** The moments that each operation passes on an environment that has a network and a nameless file. */
export function killWalksOn(kind: Kind) {
  const { successor, compact, reclaim } = byKind[kind]
  const capture = byKind[kind].capture.map((point) => `snapshot:${point}` as const)
  return {
    create: [...pointsOf('create'), ...firstLaunch],
    snapshot: [...capture, ...successor, 'snapshot:committed'],
    attach: pointsOf('attach'),
    'snapshot-live': ['snapshot:armed', 'snapshot:copied-live', 'snapshot:frozen'],
    'snapshot-files': ['snapshot:begun', 'snapshot:copied'],
    release: [...capture, ...launch, 'proof:begun', 'proof:made', ...pointsOf('release')],
    prove: pointsOf('proof'),
    resume: ['resume:begun', ...firstLaunch, 'resume:alive', 'resume:committed'],
    restore: ['restore:begun', ...launch, 'restore:alive', 'restore:committed'],
    promote: [...capture, ...launch, ...pointsOf('promote')],
    net: ['net:begun', 'net:changed'],
    fork: ['fork:begun', ...firstLaunch, 'fork:alive'],
    spares: pointsOf('spare'),
    remove: pointsOf('remove'),
    prune: pointsOf('prune'),
    reclaim,
    compact,
    apply: pointsOf('apply'),
    image: ['image:drafted', 'image:unpacked', 'image:unpacked-all'],
    'held-image': ['image:held'],
    'prune-images': ['image:forgotten'],
  } as const satisfies Readonly<Record<string, readonly KillPoint[]>>
}

export const killWalks = killWalksOn(volumeKind)

export type KillWalk = keyof typeof killWalks

/** A moment that no operation is known to pass would never be tried. */
export function unwalkedKillPoints(): KillPoint[] {
  const walks = volumeKinds.flatMap((kind) => Object.values(killWalksOn(kind)))
  const walked = new Set<KillPoint>(walks.flat())
  return killPoints.filter((point) => !walked.has(point))
}

/** The last moment of a snapshot at which its environment is frozen, and nothing replaces it yet. */
export const lastFrozen = { ext4: 'snapshot:sealed', btrfs: 'snapshot:copied' }[volumeKind]

/** The last moment at which it is not yet recorded. */
export const lastUnrecorded = { ext4: 'launch:alive', btrfs: 'snapshot:shared' }[volumeKind]
