import { chainEnd } from './plan.ts'
import {
  type Bound,
  type By,
  type GroupName,
  type Results,
  type Series,
  samplesOf,
  type Verdict,
} from './results.ts'
import { median, ratio } from './statistics.ts'

type Groups = Results['groups']

interface Promised {
  readonly group: GroupName
  readonly what: string
  readonly unit: Verdict['unit']
  readonly promised: Bound
  readonly measure: (groups: Groups) => number | null
}

const shell = 'idle shell'
const session = 'Python 512 MB'
const mib = 2 ** 20
const chainLength = 300

/** What Forkpoint is to show in one run, on any machine. */
const promises: readonly Promised[] = [
  {
    ...{
      group: 'operations',
      what: 'fork of Python 512 MB, as shipped, against plain CRIU restore',
    },
    ...{ unit: 'times', promised: { atLeast: 15 } },
    measure: ours(session, 'fork from a spare', 'criu', 'restore'),
  },
  {
    ...{ group: 'operations', what: 'the same with nothing prepared, each of four at once' },
    ...{ unit: 'times', promised: { atLeast: 15 } },
    measure: ours(session, 'fork of 4, per copy', 'criu', 'restore'),
  },
  {
    ...{ group: 'operations', what: 'the same with nothing prepared, one alone' },
    ...{ unit: 'times', promised: { atLeast: 10 } },
    measure: ours(session, 'fork of 1', 'criu', 'restore'),
  },
  {
    ...{ group: 'operations', what: 'private memory of such a fork' },
    ...{ unit: 'bytes', promised: { below: 6 * mib } },
    measure: ({ operations }) => typical(operations, session, 'private memory of a fork'),
  },
  {
    ...{ group: 'operations', what: 'second snapshot of it, bytes of the first one’s' },
    ...{ unit: 'percent', promised: { below: 3 } },
    measure: (groups) =>
      percent(within(session, 'second snapshot, written', 'first snapshot, written')(groups)),
  },
  {
    ...{ group: 'operations', what: 'second snapshot of it, against the first' },
    ...{ unit: 'times', promised: { atLeast: 5 } },
    measure: within(session, 'first snapshot', 'second snapshot'),
  },
  {
    ...{ group: 'operations', what: 'snapshot of an idle shell, against podman checkpoint' },
    ...{ unit: 'times', promised: { atLeast: 4 } },
    measure: ours(shell, 'first snapshot', 'podman', 'snapshot'),
  },
  {
    ...{ group: 'operations', what: 'restore of it, against podman restore' },
    ...{ unit: 'times', promised: { atLeast: 5 } },
    measure: ours(shell, 'restore', 'podman', 'restore'),
  },
  {
    ...{ group: 'operations', what: 'restore of it from a spare, against podman restore' },
    ...{ unit: 'times', promised: { atLeast: 40 } },
    measure: ours(shell, 'restore from a spare', 'podman', 'restore'),
  },
  {
    ...{ group: 'size', what: 'fork of 2 GB, against fork of 64 MB' },
    ...{ unit: 'times', promised: { below: 1.5 } },
    measure: ({ size }) => ratio(forkAt(size, 2048), forkAt(size, 64)),
  },
  {
    ...{ group: 'fanout', what: '100 forks of Python 512 MB, all' },
    ...{ unit: 'ms', promised: { below: 5000 } },
    measure: ({ fanout }) => typical(fanout, session, 'fork, all', 100),
  },
  {
    ...{ group: 'fanout', what: '100 forks of it, memory in all' },
    ...{ unit: 'bytes', promised: { below: 1024 * mib } },
    measure: fanoutMemory,
  },
  {
    ...{ group: 'chain', what: '300 snapshots in a chain, the last ten against the first ten' },
    ...{ unit: 'times', promised: { below: 1.5 } },
    measure: ({ chain }) => lastToFirst(chain, 'snapshot'),
  },
  {
    ...{ group: 'chain', what: 'their restore, the last ten against the first ten' },
    ...{ unit: 'times', promised: { below: 1.5 } },
    measure: ({ chain }) => lastToFirst(chain, 'restore'),
  },
  {
    ...{ group: 'soak', what: 'disk that usage does not explain, after branching at random' },
    ...{ unit: 'percent', promised: { below: 5 } },
    measure: ({ soak }) => unexplained(soak, 'disk'),
  },
  {
    ...{ group: 'soak', what: 'memory that it does not explain' },
    ...{ unit: 'percent', promised: { below: 5 } },
    measure: ({ soak }) => unexplained(soak, 'memory'),
  },
]

/** What was promised about the groups that were measured, and what became of it. */
export function judge(groups: Groups): Verdict[] {
  return promises
    .filter(({ group }) => groups[group] !== undefined)
    .map(({ what, unit, promised, measure }) => {
      const measured = measure(groups)
      const met = measured === null ? null : keeps(promised, measured)
      return { what, unit, promised, measured, met }
    })
}

function keeps(bound: Bound, measured: number): boolean {
  return 'atLeast' in bound ? measured >= bound.atLeast : measured < bound.below
}

/** How many times faster we are than a peer. */
function ours(on: string, what: string, by: By, theirs: string) {
  return ({ operations }: Groups): number | null =>
    ratio(
      samplesOf(operations, { by, what: theirs, on }),
      samplesOf(operations, { by: 'forkpoint', what, on }),
    )
}

function within(on: string, large: string, small: string) {
  return ({ operations }: Groups): number | null =>
    ratio(
      samplesOf(operations, { by: 'forkpoint', what: large, on }),
      samplesOf(operations, { by: 'forkpoint', what: small, on }),
    )
}

function percent(part: number | null): number | null {
  return part === null ? null : part * 100
}

function typical(
  series: readonly Series[] | undefined,
  on: string,
  what: string,
  at?: number,
): number | null {
  const sought = { by: 'forkpoint', what, on, ...(at !== undefined && { at }) } as const
  const value = median(samplesOf(series, sought))
  return Number.isNaN(value) ? null : value
}

/** The larger of what the machine lost and what is charged to them: the first is noisy. */
function fanoutMemory({ fanout }: Groups): number | null {
  const lost = typical(fanout, session, 'memory less available', 100)
  const charged = typical(fanout, session, 'memory charged', 100)
  return lost === null || charged === null ? null : Math.max(lost, charged)
}

function forkAt(size: readonly Series[] | undefined, mb: number): readonly number[] {
  return samplesOf(size, { by: 'forkpoint', what: 'fork', on: 'Python', at: mb })
}

function lastToFirst(chain: readonly Series[] = [], what: string): number | null {
  const all = chain
    .filter((series) => series.what === what && series.at !== undefined)
    .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))
  if ((all.at(-1)?.at ?? 0) < chainLength) return null
  const samples = (part: readonly Series[]) => part.flatMap((series) => series.samples)
  return ratio(samples(all.slice(-chainEnd)), samples(all.slice(0, chainEnd)))
}

function unexplained(soak: readonly Series[] | undefined, what: string): number | null {
  const on = session
  const found = typical(soak, on, `${what} in use`)
  const told = typical(soak, on, `${what} by usage`)
  if (found === null || told === null || found === 0) return null
  return (Math.abs(found - told) / found) * 100
}
