import type {
  CachedImage,
  EnvironmentUsage,
  SnapshotUsage,
  Usage,
} from '../../api/contract/data/store.ts'
import type { HeldPages, SnapshotHoldings } from '../../backends/facets.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'

/** A snapshot with the names of its layers, and its process state on disk. */
export type UsedSnapshot = Pick<SnapshotRecord, 'id' | 'name' | 'status' | 'sizes'> & {
  readonly layers: readonly string[]
  readonly held: SnapshotHoldings
}

/** An environment with the names of the layers it builds on. */
export type UsedEnvironment = EnvironmentUsage & { readonly layers: readonly string[] }

/** What belongs to the home as a whole. */
interface Shared {
  readonly sparesBytes?: number
  readonly containerImages?: readonly CachedImage[]
}

export function usageOf(
  snapshots: readonly UsedSnapshot[],
  environments: readonly UsedEnvironment[],
  { sparesBytes = 0, containerImages = [] }: Shared = {},
): Usage {
  const known = knownLayers(snapshots, environments)
  const each = snapshots.map((snapshot) => snapshotUsage(snapshot, known))
  return {
    snapshots: each,
    environments: environments.map(({ layers: _, ...usage }) => usage),
    containerImages,
    totals: {
      snapshotBytes: onDisk(snapshots),
      environmentBytes: sum(environments.map(({ diskBytes }) => diskBytes ?? 0)),
      memoryBytes: sparesBytes + sum(environments.map(({ memoryBytes }) => memoryBytes ?? 0)),
      sparesBytes,
      containerImageBytes: sum(containerImages.map(({ bytes }) => bytes)),
      uncounted: each.filter(({ filesBytes }) => filesBytes === null).length,
    },
  }
}

interface KnownLayers {
  /** size by layer; null if not counted yet */
  readonly bytes: ReadonlyMap<string, number | null>
  /** number of snapshots and environments by layer that they use */
  readonly users: ReadonlyMap<string, number>
}

function knownLayers(
  snapshots: readonly UsedSnapshot[],
  environments: readonly UsedEnvironment[],
): KnownLayers {
  const bytes = new Map(snapshots.flatMap(({ id, sizes }) => layersOfOne(id, sizes)))
  const users = new Map<string, number>()
  for (const { layers } of [...snapshots, ...environments]) {
    for (const layer of layers) users.set(layer, (users.get(layer) ?? 0) + 1)
  }
  return { bytes, users }
}

function snapshotUsage(snapshot: UsedSnapshot, { bytes, users }: KnownLayers): SnapshotUsage {
  const { id, name, status, sizes, layers, held } = snapshot
  const imagesBytes = held.imagesBytes + pagesBytes(held, ({ own }) => own)
  const unsharedBytes = held.imagesBytes + pagesBytes(held, ({ holders }) => holders === 1)
  const own = new Map(layersOfOne(id, sizes))
  const isUnique = (layer: string) => users.get(layer) === (layers.includes(layer) ? 1 : undefined)
  const unique = [...own].filter(([layer]) => isUnique(layer))
  const shared = layers.filter((layer) => !own.has(layer))
  return {
    id,
    name,
    status,
    filesBytes: sizes.filesBytes,
    imagesBytes,
    squashedBytes: sum(Object.values(sizes.squashed ?? {})),
    ownBytes: sumOrNull([imagesBytes, ...own.values()]),
    sharedBytes: sumOrNull([
      pagesBytes(held, ({ own }) => !own),
      ...shared.map((layer) => bytes.get(layer) ?? null),
    ]),
    uniqueBytes: sumOrNull([unsharedBytes, ...unique.map(([, size]) => size)]),
  }
}

/** The layers that belong to a snapshot: the one it sealed, and those squashed up to it. */
function layersOfOne(
  id: SnapshotId,
  { filesBytes, squashed = {} }: SnapshotRecord['sizes'],
): [name: string, bytes: number | null][] {
  return [[id, filesBytes], ...Object.entries(squashed)]
}

function pagesBytes({ pages }: SnapshotHoldings, which: (file: HeldPages) => boolean): number {
  return sum(pages.filter(which).map(({ bytes }) => bytes))
}

/** Counts memory that several snapshots share only once. */
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

/** Null if any part is unknown. */
function sumOrNull(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null)
  return known.length === numbers.length ? sum(known) : null
}
