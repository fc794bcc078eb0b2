import type { ManagedSnapshot } from '../tree/nodes.ts'
import type { ManagerOperation } from './operation-log.ts'
import { type Statistics, statisticsOf } from './statistics.ts'

/** Times and sizes of one environment, or of all. */
export interface OperationSummary {
  /** by operation, such as `exec` or `snapshot (virtual)` */
  readonly time: Readonly<Record<string, Statistics>>
  /** by kind of snapshot, of those whose size is known */
  readonly storage: Readonly<Record<string, Statistics>>
  /** operations that failed, which the times leave out */
  readonly failed: number
}

/** The benchmark log of a session, summed up. */
export interface ManagerStats {
  readonly all: OperationSummary
  /** by id of the environment */
  readonly environments: Readonly<Record<string, OperationSummary & { readonly branch: string }>>
}

/** Pure. */
export function statsOf(
  entries: readonly ManagerOperation[],
  snapshots: readonly ManagedSnapshot[],
): ManagerStats {
  const sizes = new Map(snapshots.map((node) => [node.id as string, node.bytes]))
  const ids = [...new Set(entries.map(({ environment }) => environment))].filter((id) => id !== '')
  const environments = ids.map((id) => {
    const own = entries.filter(({ environment }) => environment === id)
    const branch = own.at(-1)?.branch ?? ''
    return [id, { branch, ...summaryOf(own, sizes) }] as const
  })
  return { all: summaryOf(entries, sizes), environments: Object.fromEntries(environments) }
}

function summaryOf(
  entries: readonly ManagerOperation[],
  sizes: ReadonlyMap<string, number | null>,
): OperationSummary {
  const done = entries.filter(({ outcome }) => outcome === 'done')
  const times = grouped(done, titleOf, ({ ms }) => ms)
  const taken = done.filter(({ operation }) => operation === 'snapshot' || operation === 'park')
  const bytes = grouped(
    taken,
    ({ kind }) => kind ?? '',
    ({ snapshot }) => sizes.get(snapshot ?? '') ?? null,
  )
  return {
    time: mapped(times, (samples) => statisticsOf(samples, 'ms')),
    storage: mapped(bytes, (samples) => statisticsOf(samples, 'bytes')),
    failed: entries.length - done.length,
  }
}

export function titleOf({ operation, kind }: ManagerOperation): string {
  return kind === null ? operation : `${operation} (${kind})`
}

function grouped<T>(
  items: readonly T[],
  key: (item: T) => string,
  sample: (item: T) => number | null,
): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const item of items) {
    const value = sample(item)
    if (value === null) continue
    groups.set(key(item), [...(groups.get(key(item)) ?? []), value])
  }
  return groups
}

function mapped<A, B>(groups: ReadonlyMap<string, A>, work: (group: A) => B): Record<string, B> {
  return Object.fromEntries(Array.from(groups, ([key, group]) => [key, work(group)]))
}
