import type { HeldPages, SnapshotHoldings } from '../../backends/backend.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { lineageOf } from './lineage.ts'

/** What one snapshot takes. A number is null until its files were counted. */
export interface SnapshotUsage extends Pick<SnapshotRecord, 'id' | 'name' | 'status'> {
  /** changed files that it sealed */
  readonly filesBytes: number | null
  /** memory and everything else of its processes that it wrote */
  readonly imagesBytes: number
  /** what it added: files and images together */
  readonly ownBytes: number | null
  /** files of the snapshots it builds on, and memory that they wrote and it still maps */
  readonly sharedBytes: number | null
  /** what nothing else uses; its files are not unique while something builds on them */
  readonly uniqueBytes: number | null
}

/** What one environment takes beside its snapshots. */
export interface EnvironmentUsage extends Pick<EnvironmentRecord, 'id' | 'name' | 'status'> {
  /** files changed since its head; null if it has no processes that could be asked */
  readonly diskBytes: number | null
  readonly memoryBytes: number | null
}

export interface Usage {
  readonly snapshots: readonly SnapshotUsage[]
  readonly environments: readonly EnvironmentUsage[]
  readonly totals: {
    /** everything that snapshots hold on disk, as far as it was counted */
    readonly snapshotBytes: number
    /** files that environments changed since their heads */
    readonly environmentBytes: number
    readonly memoryBytes: number
    /** snapshots whose files were not counted yet */
    readonly uncounted: number
  }
}

/** What each snapshot has of processes, as far as it was measured. */
export type AllHoldings = ReadonlyMap<SnapshotId, SnapshotHoldings>

export function usageOf(
  snapshots: readonly SnapshotRecord[],
  environments: readonly (EnvironmentUsage & Pick<EnvironmentRecord, 'head'>)[],
  holdings: AllHoldings,
): Usage {
  const lineage = lineageOf(snapshots)
  const heads = new Set(environments.map(({ head }) => head))
  const isShared = (id: SnapshotId) => heads.has(id) || lineage.childrenOf(id).length > 0
  const each = snapshots.map((snapshot): SnapshotUsage => {
    const { id, name, status, sizes } = snapshot
    const { filesBytes } = sizes
    const held = holdingsIn(holdings, snapshot)
    const imagesBytes = held.imagesBytes + pagesBytes(held, ({ own }) => own)
    const older = pagesBytes(held, ({ own }) => !own)
    const below = sumOrNull(lineage.ancestorsOf(id).map((ancestor) => ancestor.sizes.filesBytes))
    const unique = held.imagesBytes + pagesBytes(held, ({ holders }) => holders === 1)
    return {
      ...{ id, name, status, filesBytes, imagesBytes },
      ownBytes: sumOrNull([filesBytes, imagesBytes]),
      sharedBytes: sumOrNull([below, older]),
      uniqueBytes: isShared(id) ? unique : sumOrNull([filesBytes, unique]),
    }
  })
  return {
    snapshots: each,
    environments: environments.map(({ head: _, ...usage }) => usage),
    totals: {
      snapshotBytes: onDisk(snapshots, holdings),
      environmentBytes: sum(environments.map(({ diskBytes }) => diskBytes ?? 0)),
      memoryBytes: sum(environments.map(({ memoryBytes }) => memoryBytes ?? 0)),
      uncounted: each.filter(({ filesBytes }) => filesBytes === null).length,
    },
  }
}

function holdingsIn(holdings: AllHoldings, { id, sizes }: SnapshotRecord): SnapshotHoldings {
  return holdings.get(id) ?? { imagesBytes: sizes.imagesBytes, pages: [] }
}

function pagesBytes({ pages }: SnapshotHoldings, which: (file: HeldPages) => boolean): number {
  return sum(pages.filter(which).map(({ bytes }) => bytes))
}

/** Memory that several snapshots have in common is there once. */
function onDisk(snapshots: readonly SnapshotRecord[], holdings: AllHoldings): number {
  const held = snapshots.map((snapshot) => holdingsIn(holdings, snapshot))
  const pages = new Map(held.flatMap((one) => one.pages.map(({ name, bytes }) => [name, bytes])))
  const files = snapshots.map(({ sizes }) => sizes.filesBytes ?? 0)
  return sum([...files, ...held.map(({ imagesBytes }) => imagesBytes), ...pages.values()])
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** A sum of which a part is unknown is unknown. */
function sumOrNull(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null)
  return known.length === numbers.length ? sum(known) : null
}
