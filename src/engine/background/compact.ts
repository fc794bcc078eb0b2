import type { Compaction } from '../../api/contract/data/snapshot.ts'
import type { Squashed, Storage } from '../../backends/facets.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Operation } from '../../store/journal.ts'
import type { Store } from '../../store/open-store.ts'
import { requireFacet } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { requireReady } from '../operations/require-ready.ts'

/** Held by whoever makes or removes squashed layers: one at a time per store. */
export const squashLease = 'squash'

/** Squashes the whole chain of a snapshot into one layer, and makes its memory its own. */
export async function compact(engine: Engine, id: SnapshotId): Promise<Compaction> {
  storageOf(engine, engine.store.snapshots.resolve(id))
  await engine.squashes.stop()
  // A flush would read the images that this replaces.
  await engine.flushes.start(engine.store.snapshots.resolve(id))
  await using _lease = await engine.store.leases.acquire(squashLease, 'compacting')
  const layers = await rewriteLayers(engine, id, (storage, of) => storage.compact(of))
  return { ...layers, memoryBytes: await ownMemory(engine, id) }
}

function storageOf(engine: Engine, { backend }: SnapshotRecord): Storage {
  return requireFacet(engine.backend(backend), 'storage')
}

/** Runs as an operation, which keeps the snapshot; removes the replaced files once nobody reads them. */
async function ownMemory(engine: Engine, id: SnapshotId): Promise<number> {
  const { store } = engine
  const { snapshot, operation } = begin(store, id)
  const storage = storageOf(engine, snapshot)
  let imagesBytes: number | null
  try {
    imagesBytes = await storage.ownMemory(snapshot)
    killPoint('squash:owned')
    recordMemory(engine, operation, id, imagesBytes)
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  await dropStaleMemory(engine, id)
  return imagesBytes ?? 0
}

function recordMemory(
  { store }: Engine,
  operation: Operation,
  id: SnapshotId,
  imagesBytes: number | null,
): void {
  store.transaction(() => {
    const { sizes } = store.snapshots.resolve(id)
    if (imagesBytes !== null) store.snapshots.update(id, { sizes: { ...sizes, imagesBytes } })
    store.journal.finish(operation)
  })
}

/** Whoever begins to read the snapshot after this check reads the current files. */
async function dropStaleMemory(
  { store, backend }: Engine,
  id: SnapshotId,
  own?: Operation,
): Promise<void> {
  const record = store.snapshots.get(id)
  const others = store.journal.open().filter((operation) => operation.id !== own?.id)
  if (!record || others.some(({ payload }) => payload.from === id)) return
  await backend(record.backend).storage?.dropStaleMemory(id)
}

/** The snapshots that environments continue from, each once, if their backend can compact them. */
export function headsOf(engine: Engine): SnapshotId[] {
  const heads = engine.store.environments
    .list()
    .filter(({ backend }) => engine.backend(backend).storage !== undefined)
    .flatMap(({ head }) => head ?? [])
  return [...new Set(heads)]
}

/** Runs as an operation, which keeps the snapshot: `prune` leaves alone what an open operation reads. */
export async function rewriteLayers(
  engine: Engine,
  id: SnapshotId,
  squash: (storage: Storage, of: SnapshotRecord) => Promise<Squashed>,
): Promise<Omit<Compaction, 'memoryBytes'>> {
  const { store } = engine
  const { snapshot, operation } = begin(store, id)
  killPoint('squash:begun')
  const storage = storageOf(engine, snapshot)
  try {
    const squashed = await squash(storage, snapshot)
    const after = record(engine, operation, snapshot, squashed)
    killPoint('squash:recorded')
    return {
      id,
      layersBefore: storage.layersOf(snapshot.image).length,
      layersAfter: storage.layersOf(after.image).length,
      bytes: squashed.made.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
}

function begin(store: Store, id: SnapshotId): { snapshot: SnapshotRecord; operation: Operation } {
  return store.transaction(() => {
    const snapshot = store.snapshots.resolve(id)
    requireReady(snapshot)
    return { snapshot, operation: store.journal.begin('squash', null, { from: id }) }
  })
}

/** Gives every snapshot that contains the squashed layers the shorter list. */
function record(
  { store }: Engine,
  operation: Operation,
  { id, backend }: SnapshotRecord,
  { made, rewrite }: Squashed,
): SnapshotRecord {
  return store.transaction(() => {
    for (const { owner, name, bytes } of made) {
      const { sizes } = store.snapshots.resolve(owner)
      const squashed = { ...sizes.squashed, [name]: bytes }
      store.snapshots.update(owner, { sizes: { ...sizes, squashed } })
    }
    for (const other of store.snapshots.list()) {
      const isAlike = other.status === 'ready' && other.backend === backend
      const next = isAlike ? rewrite(other.image) : null
      if (next !== null) store.snapshots.update(other.id, { image: next })
    }
    store.journal.finish(operation)
    return store.snapshots.resolve(id)
  })
}

/**
 * After a crash: discards squashed layers that were not recorded; squashing is due again after the next
 * snapshot. The caller must hold the lease.
 */
export async function discardUnrecorded(engine: Engine, operation: Operation): Promise<void> {
  const records = engine.store.snapshots.list()
  const recorded = new Set(records.flatMap(({ sizes }) => Object.keys(sizes.squashed ?? {})))
  for (const { storage } of engine.backends()) await storage?.discardUnrecorded(recorded)
  const { from } = operation.payload
  if (from !== undefined) await dropStaleMemory(engine, from, operation)
}
