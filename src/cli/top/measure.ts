import type { Environment, Forkpoint, InstanceStats, RunningOperation } from '../../index.ts'
import type { EnvironmentStatus } from '../../model/environment.ts'

/** One environment, as `top` shows it. What is null is not known, or not while it has no processes. */
export interface TopRow {
  readonly id: string
  readonly name: string | null
  readonly status: EnvironmentStatus
  /** how many CPUs were busy since the last look */
  readonly cpus: number | null
  readonly cpuMs: number | null
  /** what counts towards its limit */
  readonly memoryBytes: number | null
  readonly memoryLimitBytes: number | null
  /** memory of its own */
  readonly ownBytes: number | null
  /** memory that it maps of snapshots */
  readonly sharedBytes: number | null
  readonly processes: number | null
  /** files changed since its last snapshot */
  readonly diskBytes: number | null
  /** kinds of operations under way */
  readonly operations: readonly string[]
}

export interface TopView {
  /** in the time of `performance.now()` */
  readonly at: number
  /** the busiest first */
  readonly rows: readonly TopRow[]
}

/** How many environments are asked at the same time. */
const atOnce = 8

export async function measure(forkpoint: Forkpoint, before: TopView | null): Promise<TopView> {
  const [environments, operations] = await Promise.all([forkpoint.list(), forkpoint.operations()])
  const at = performance.now()
  const earlier = new Map(before?.rows.map((row) => [row.id, row]))
  const left = [...environments]
  const rows: TopRow[] = []
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const row = rowOf(next, await statsOf(next), operations)
      rows.push({ ...row, cpus: cpusSince(earlier.get(row.id), row, at - (before?.at ?? at)) })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { at, rows: rows.toSorted(byUse) }
}

/** Null if it has no processes, or has lost them since it was listed. */
async function statsOf(environment: Environment): Promise<InstanceStats | null> {
  const { status } = environment.lastInfo
  if (status !== 'running' && status !== 'paused') return null
  return await environment.stats().catch(() => null)
}

function rowOf(
  { lastInfo: { id, name, status } }: Environment,
  stats: InstanceStats | null,
  operations: readonly RunningOperation[],
): TopRow {
  return {
    id,
    name,
    status,
    cpus: null,
    cpuMs: stats?.cpuMs ?? null,
    memoryBytes: stats?.memoryBytes ?? null,
    memoryLimitBytes: stats?.memoryLimitBytes ?? null,
    ownBytes: stats?.memory.privateBytes ?? null,
    sharedBytes: stats?.memory.sharedBytes ?? null,
    processes: stats?.processes ?? null,
    diskBytes: stats?.diskBytes ?? null,
    operations: operations.filter(({ environment }) => environment === id).map(({ kind }) => kind),
  }
}

function cpusSince(before: TopRow | undefined, now: TopRow, ms: number): number | null {
  if (before === undefined || before.cpuMs === null || now.cpuMs === null || ms <= 0) return null
  // A restore begins to count again.
  return Math.max(0, now.cpuMs - before.cpuMs) / ms
}

function byUse(a: TopRow, b: TopRow): number {
  const difference = (b.cpus ?? 0) - (a.cpus ?? 0) || (b.ownBytes ?? 0) - (a.ownBytes ?? 0)
  return difference || a.id.localeCompare(b.id)
}
