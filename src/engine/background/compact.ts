import type { Backend, Squashed } from '../../backends/backend.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { isSnapshotId, type SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Operation } from '../../store/journal.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine } from '../engine.ts'
import { requireReady } from '../operations/restore.ts'

/** One at a time on a store: merged layers are made and removed under it. */
export const squashLease = 'squash'

/** What became of the layers of a snapshot. */
export interface Compaction {
  readonly id: SnapshotId
  readonly layersBefore: number
  readonly layersAfter: number
  /** written for it */
  readonly bytes: number
  /** of memory that is in files of its own now; 0 if it was already */
  readonly memoryBytes: number
}

/** Folds all that a snapshot and those it came from sealed into one layer, and its memory into one file. */
export async function compact(engine: Engine, id: SnapshotId): Promise<Compaction> {
  await engine.squashes.stop()
  // A flush reads the images that are about to be replaced.
  await engine.flushes.start(engine.store.snapshots.resolve(id))
  await using _lease = await engine.store.leases.acquire(squashLease, 'compacting')
  const merge = (backend: Backend, snapshot: SnapshotRecord) => backend.compact(snapshot)
  const layers = await rewriteLayers(engine, id, merge)
  return { ...layers, memoryBytes: await gatherMemory(engine, id) }
}

/** Like layers, under an operation that keeps the snapshot; what was replaced goes when nobody reads it. */
async function gatherMemory(engine: Engine, id: SnapshotId): Promise<number> {
  const { store } = engine
  const { snapshot, operation } = begin(store, id)
  const backend = engine.backend(snapshot.backend)
  let imagesBytes: number | null
  try {
    imagesBytes = await backend.gatherMemory(snapshot)
    killPoint('squash:gathered')
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

/** Whoever begins to read a snapshot after this look reads what is current. */
async function dropStaleMemory(
  { store, backend }: Engine,
  id: SnapshotId,
  own?: Operation,
): Promise<void> {
  const record = store.snapshots.get(id)
  const others = store.journal.open().filter((operation) => operation.id !== own?.id)
  if (!record || others.some(({ payload }) => payload.from === id)) return
  await backend(record.backend).dropStaleMemory(id)
}

/** The snapshots that environments go on from, each once. */
export function headsOf({ store }: Engine): SnapshotId[] {
  const heads = store.environments.list().flatMap(({ head }) => head ?? [])
  return [...new Set(heads)]
}

/** The snapshot stays while its layers are read: `prune` leaves alone what an open operation reads. */
export async function rewriteLayers(
  engine: Engine,
  id: SnapshotId,
  merge: (backend: Backend, of: SnapshotRecord) => Promise<Squashed>,
): Promise<Omit<Compaction, 'memoryBytes'>> {
  const { store } = engine
  const { snapshot, operation } = begin(store, id)
  killPoint('squash:begun')
  const backend = engine.backend(snapshot.backend)
  try {
    const squashed = await merge(backend, snapshot)
    const after = record(engine, operation, id, squashed)
    killPoint('squash:recorded')
    return {
      id,
      layersBefore: backend.layersOf(snapshot.image).length,
      layersAfter: backend.layersOf(after.image).length,
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

/** Every snapshot that has the merged layers in its list gets the shorter one. */
function record(
  { store }: Engine,
  operation: Operation,
  id: SnapshotId,
  { made, rewrite }: Squashed,
): SnapshotRecord {
  return store.transaction(() => {
    for (const { owner, name, bytes } of made) {
      const { sizes } = store.snapshots.resolve(owner)
      const squashed = { ...sizes.squashed, [name]: bytes }
      store.snapshots.update(owner, { sizes: { ...sizes, squashed } })
    }
    for (const { id: each, status, image } of store.snapshots.list()) {
      const next = status === 'ready' ? rewrite(image) : null
      if (next !== null) store.snapshots.update(each, { image: next })
    }
    store.journal.finish(operation)
    return store.snapshots.resolve(id)
  })
}

/**
 * After a crash: what was merged and not recorded goes; it is due again after the next snapshot.
 * Only for who has the lease.
 */
export async function discardUnrecorded(engine: Engine, operation: Operation): Promise<void> {
  const records = engine.store.snapshots.list()
  const recorded = new Set(records.flatMap(({ sizes }) => Object.keys(sizes.squashed ?? {})))
  for (const backend of engine.backends()) await backend.discardUnrecorded(recorded)
  const { from } = operation.payload
  if (isSnapshotId(from)) await dropStaleMemory(engine, from, operation)
}
