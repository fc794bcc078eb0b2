import { chainEnd } from '../plan.ts'
import { type By, type Series, samplesOf } from '../results.ts'
import { ratio } from '../statistics.ts'
import { type Groups, type Promised, session, shell, typical } from './promised.ts'

const mib = 2 ** 20
const chainLength = 300

/** What branching must cost at most, in one run, on any machine. */
export const branchingPromises: readonly Promised[] = [
  {
    group: 'operations',
    what: 'fork of Python 512 MB, as shipped, against plain CRIU restore',
    unit: 'times',
    promised: { atLeast: 15 },
    measure: ours(session, 'fork from a spare', 'criu', 'restore'),
  },
  {
    group: 'operations',
    what: 'the same with nothing prepared, each of four at once',
    unit: 'times',
    promised: { atLeast: 15 },
    measure: ours(session, 'fork of 4, per copy', 'criu', 'restore'),
  },
  {
    group: 'operations',
    what: 'the same with nothing prepared, one alone',
    unit: 'times',
    promised: { atLeast: 10 },
    measure: ours(session, 'fork of 1', 'criu', 'restore'),
  },
  {
    group: 'operations',
    what: 'private memory of such a fork',
    unit: 'bytes',
    promised: { below: 6 * mib },
    measure: ({ operations }) => typical(operations, session, 'private memory of a fork'),
  },
  {
    group: 'operations',
    what: 'second snapshot of it, bytes of the first one’s',
    unit: 'percent',
    promised: { below: 3 },
    measure: (groups) =>
      percent(within(session, 'second snapshot, written', 'first snapshot, written')(groups)),
  },
  {
    group: 'operations',
    what: 'second snapshot of it, against the first',
    unit: 'times',
    promised: { atLeast: 5 },
    measure: within(session, 'first snapshot', 'second snapshot'),
  },
  {
    group: 'operations',
    what: 'snapshot of an idle shell, against podman checkpoint',
    unit: 'times',
    promised: { atLeast: 4 },
    measure: ours(shell, 'first snapshot', 'podman', 'snapshot'),
  },
  {
    group: 'operations',
    what: 'restore of it, against podman restore',
    unit: 'times',
    promised: { atLeast: 5 },
    measure: ours(shell, 'restore', 'podman', 'restore'),
  },
  {
    group: 'operations',
    what: 'restore of it from a spare, against podman restore',
    unit: 'times',
    promised: { atLeast: 40 },
    measure: ours(shell, 'restore from a spare', 'podman', 'restore'),
  },
  {
    group: 'size',
    what: 'fork of 2 GB, against fork of 64 MB',
    unit: 'times',
    promised: { below: 1.5 },
    measure: ({ size }) => ratio(forkAt(size, 2048), forkAt(size, 64)),
  },
  {
    group: 'fanout',
    what: '100 forks of Python 512 MB, all',
    unit: 'ms',
    promised: { below: 5000 },
    measure: ({ fanout }) => typical(fanout, session, 'fork, all', 100),
  },
  {
    group: 'fanout',
    what: '100 forks of it, memory in all',
    unit: 'bytes',
    promised: { below: 1024 * mib },
    measure: fanoutMemory,
  },
  {
    group: 'chain',
    what: '300 snapshots in a chain, the last ten against the first ten',
    unit: 'times',
    promised: { below: 1.5 },
    measure: ({ chain }) => lastToFirst(chain, 'snapshot'),
  },
  {
    group: 'chain',
    what: 'their restore, the last ten against the first ten',
    unit: 'times',
    promised: { below: 1.5 },
    measure: ({ chain }) => lastToFirst(chain, 'restore'),
  },
  {
    group: 'soak',
    what: 'disk that usage does not explain, after branching at random',
    unit: 'percent',
    promised: { below: 5 },
    measure: ({ soak }) => unexplained(soak, 'disk'),
  },
  {
    group: 'soak',
    what: 'memory that it does not explain',
    unit: 'percent',
    promised: { below: 5 },
    measure: ({ soak }) => unexplained(soak, 'memory'),
  },
]

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

/** The larger of what the machine lost and what their cgroups are charged: the first is noisy. */
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
  const reported = typical(soak, on, `${what} by usage`)
  if (found === null || reported === null || found === 0) return null
  return (Math.abs(found - reported) / found) * 100
}
