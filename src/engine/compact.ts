import type { Backend, Squashed } from '../backends/backend.ts'
import type { SnapshotId } from '../model/ids.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import type { Operation } from '../store/journal.ts'
import { killPoint } from '../system/kill-points.ts'
import type { Engine } from './engine.ts'
import { requireReady } from './restore.ts'

/** One at a time on a store: merged layers are made and removed under it. */
export const squashLease = 'squash'

/** What became of the layers of a snapshot. */
export interface Compaction {
  readonly id: SnapshotId
  readonly layersBefore: number
  readonly layersAfter: number
  /** written for it */
  readonly bytes: number
}

/** Folds all that a snapshot and those it came from sealed into one layer. */
export async function compact(engine: Engine, id: SnapshotId): Promise<Compaction> {
  await engine.squashes.stop()
  await using _lease = await engine.store.leases.acquire(squashLease, 'compacting')
  return await rewriteLayers(engine, id, (backend, snapshot) => backend.compact(snapshot))
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
): Promise<Compaction> {
  const { store } = engine
  const { snapshot, operation } = store.transaction(() => {
    const snapshot = store.snapshots.resolve(id)
    requireReady(snapshot)
    return { snapshot, operation: store.journal.begin('squash', null, { from: id }) }
  })
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

/** After a crash: what was merged and not recorded goes; it is due again after the next snapshot. */
export async function discardUnrecorded(engine: Engine): Promise<void> {
  using held = engine.store.leases.tryAcquire(squashLease, 'removing what a squash left over')
  if (!held) return
  const records = engine.store.snapshots.list()
  const recorded = new Set(records.flatMap(({ sizes }) => Object.keys(sizes.squashed ?? {})))
  await engine.backend('native').discardUnrecorded(recorded)
}
