import { type KillPoint, killPoints } from '../../src/linux/kill-points.ts'

const launch = ['launch:directories', 'launch:cgroups', 'launch:alive'] as const
const firstLaunch = ['launch:directories', 'launch:cgroups', 'launch:net', 'launch:alive'] as const
const capture = [
  ...(['snapshot:begun', 'snapshot:frozen', 'snapshot:shared'] as const),
  ...(['snapshot:dumped', 'snapshot:sealed'] as const),
] as const

const pointsOf = (verb: string) => killPoints.filter((point) => point.startsWith(`${verb}:`))

/** The moments that each operation passes on an environment that has a network. */
export const killWalks = {
  create: [...pointsOf('create'), ...firstLaunch],
  snapshot: [...capture, ...launch, 'snapshot:committed'],
  'snapshot-files': ['snapshot:begun', 'snapshot:copied'],
  release: [...capture, 'release:committed'],
  resume: ['resume:begun', ...firstLaunch, 'resume:alive', 'resume:committed'],
  restore: ['restore:begun', ...launch, 'restore:alive', 'restore:committed'],
  promote: [...capture, ...launch, ...pointsOf('promote')],
  fork: ['fork:begun', ...firstLaunch, 'fork:alive'],
  spares: pointsOf('spare'),
  remove: pointsOf('remove'),
  prune: pointsOf('prune'),
  compact: pointsOf('squash'),
  apply: pointsOf('apply'),
} as const satisfies Readonly<Record<string, readonly KillPoint[]>>

export type KillWalk = keyof typeof killWalks

/** A moment that no operation is known to pass would never be tried. */
export function unwalkedKillPoints(): KillPoint[] {
  const walked = new Set<KillPoint>(Object.values(killWalks).flat())
  return killPoints.filter((point) => !walked.has(point))
}
