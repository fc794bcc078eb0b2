import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { lineageOf } from './lineage.ts'
import { ownBytesOf } from './tree.ts'

/** What one snapshot takes. A number is null until its files were counted. */
export interface SnapshotUsage extends Pick<SnapshotRecord, 'id' | 'name' | 'status'> {
  /** changed files that it sealed */
  readonly filesBytes: number | null
  /** memory and everything else of its processes */
  readonly imagesBytes: number
  /** what it added: files and images together */
  readonly ownBytes: number | null
  /** files of the snapshots it builds on */
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

export function usageOf(
  snapshots: readonly SnapshotRecord[],
  environments: readonly (EnvironmentUsage & Pick<EnvironmentRecord, 'head'>)[],
): Usage {
  const lineage = lineageOf(snapshots)
  const heads = new Set(environments.map(({ head }) => head))
  const isShared = (id: SnapshotId) => heads.has(id) || lineage.childrenOf(id).length > 0
  const each = snapshots.map((snapshot): SnapshotUsage => {
    const { id, name, status, sizes } = snapshot
    const { filesBytes, imagesBytes } = sizes
    const ownBytes = ownBytesOf(snapshot)
    return {
      ...{ id, name, status, filesBytes, imagesBytes, ownBytes },
      sharedBytes: sumOrNull(lineage.ancestorsOf(id).map((ancestor) => ancestor.sizes.filesBytes)),
      uniqueBytes: isShared(id) ? imagesBytes : ownBytes,
    }
  })
  return {
    snapshots: each,
    environments: environments.map(({ head: _, ...usage }) => usage),
    totals: {
      snapshotBytes: sum(each.map((usage) => (usage.filesBytes ?? 0) + usage.imagesBytes)),
      environmentBytes: sum(environments.map(({ diskBytes }) => diskBytes ?? 0)),
      memoryBytes: sum(environments.map(({ memoryBytes }) => memoryBytes ?? 0)),
      uncounted: each.filter(({ filesBytes }) => filesBytes === null).length,
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** A sum of which a part is unknown is unknown. */
function sumOrNull(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null)
  return known.length === numbers.length ? sum(known) : null
}
