import type { HeldPages, SnapshotHoldings } from '../../backends/backend.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'

/** What one snapshot takes. A number is null until its files were counted. */
export interface SnapshotUsage extends Pick<SnapshotRecord, 'id' | 'name' | 'status'> {
  /** changed files that it sealed */
  readonly filesBytes: number | null
  /** memory and everything else of its processes that it wrote */
  readonly imagesBytes: number
  /** files of this and earlier snapshots, merged so that later ones have fewer layers */
  readonly squashedBytes: number
  /** what it holds: files, merged files and images together */
  readonly ownBytes: number | null
  /** files and memory that it uses and other snapshots hold, or made */
  readonly sharedBytes: number | null
  /** what nothing else uses; its files are not unique while something builds on them */
  readonly uniqueBytes: number | null
}

/** What one environment takes beside its snapshots. */
export interface EnvironmentUsage extends Pick<EnvironmentRecord, 'id' | 'name' | 'status'> {
  /** files changed since its head; null if it has no processes that could be asked */
  readonly diskBytes: number | null
  /** of its own; what it maps of its snapshots is theirs */
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
    /** of environments, and of branches that are kept ready */
    readonly memoryBytes: number
    readonly sparesBytes: number
    /** snapshots whose files were not counted yet */
    readonly uncounted: number
  }
}

/** A snapshot, the names of the layers that it is made of, and what it has of processes. */
export type UsedSnapshot = Pick<SnapshotRecord, 'id' | 'name' | 'status' | 'sizes'> & {
  readonly layers: readonly string[]
  readonly held: SnapshotHoldings
}

/** An environment, and the names of the layers that it stands on. */
export type UsedEnvironment = EnvironmentUsage & { readonly layers: readonly string[] }

export function usageOf(
  snapshots: readonly UsedSnapshot[],
  environments: readonly UsedEnvironment[],
  sparesBytes = 0,
): Usage {
  const bytes = new Map(snapshots.flatMap(({ id, sizes }) => layersOfOne(id, sizes)))
  const users = new Map<string, number>()
  for (const { layers } of [...snapshots, ...environments]) {
    for (const layer of layers) users.set(layer, (users.get(layer) ?? 0) + 1)
  }
  const each = snapshots.map((snapshot): SnapshotUsage => {
    const { id, name, status, sizes, layers, held } = snapshot
    const { filesBytes } = sizes
    const imagesBytes = held.imagesBytes + pagesBytes(held, ({ own }) => own)
    const pagesAlone = held.imagesBytes + pagesBytes(held, ({ holders }) => holders === 1)
    const own = new Map(layersOfOne(id, sizes))
    const isAlone = (layer: string) => users.get(layer) === (layers.includes(layer) ? 1 : undefined)
    const alone = [...own].filter(([layer]) => isAlone(layer))
    const shared = layers.filter((layer) => !own.has(layer))
    return {
      ...{ id, name, status, filesBytes, imagesBytes },
      squashedBytes: sum(Object.values(sizes.squashed ?? {})),
      ownBytes: sumOrNull([imagesBytes, ...own.values()]),
      sharedBytes: sumOrNull([
        pagesBytes(held, ({ own }) => !own),
        ...shared.map((layer) => bytes.get(layer) ?? null),
      ]),
      uniqueBytes: sumOrNull([pagesAlone, ...alone.map(([, size]) => size)]),
    }
  })
  return {
    snapshots: each,
    environments: environments.map(({ layers: _, ...usage }) => usage),
    totals: {
      snapshotBytes: onDisk(snapshots),
      environmentBytes: sum(environments.map(({ diskBytes }) => diskBytes ?? 0)),
      memoryBytes: sparesBytes + sum(environments.map(({ memoryBytes }) => memoryBytes ?? 0)),
      sparesBytes,
      uncounted: each.filter(({ filesBytes }) => filesBytes === null).length,
    },
  }
}

/** The layers that belong to a snapshot: the one it sealed, and those that were merged up to it. */
function layersOfOne(
  id: SnapshotId,
  { filesBytes, squashed = {} }: SnapshotRecord['sizes'],
): [name: string, bytes: number | null][] {
  return [[id, filesBytes], ...Object.entries(squashed)]
}

function pagesBytes({ pages }: SnapshotHoldings, which: (file: HeldPages) => boolean): number {
  return sum(pages.filter(which).map(({ bytes }) => bytes))
}

/** Memory that several snapshots have in common is there once. */
function onDisk(snapshots: readonly UsedSnapshot[]): number {
  const layers = snapshots.flatMap(({ id, sizes }) => layersOfOne(id, sizes))
  const pages = new Map(
    snapshots.flatMap(({ held }) => held.pages.map(({ name, bytes }) => [name, bytes])),
  )
  return sum([
    ...layers.map(([, bytes]) => bytes ?? 0),
    ...snapshots.map(({ held }) => held.imagesBytes),
    ...pages.values(),
  ])
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** A sum of which a part is unknown is unknown. */
function sumOrNull(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null)
  return known.length === numbers.length ? sum(known) : null
}
