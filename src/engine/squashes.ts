import { setTimeout as sleep } from 'node:timers/promises'
import type { Squashed } from '../backends/backend.ts'
import type { SnapshotId } from '../model/ids.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import type { Operation } from '../store/journal.ts'
import { killPoint } from '../system/kill-points.ts'
import type { Engine } from './engine.ts'
import { requireReady } from './restore.ts'

/** Long chains of layers made shorter, after the call that made them longer has returned. */
export interface Squashes {
  /** Begins if it is due; what is left undone is due again after the next snapshot. */
  start(snapshot: SnapshotRecord): void
  /** Gives up what is under way. */
  stop(): Promise<void>
  /** Waits only where the chain has become so long that it cannot be left to the next process. */
  close(): Promise<void>
}

/** One at a time on a store: merged layers are made and removed under it. */
const lease = 'squash'

/** What a command may take longer at its end, every sixteenth snapshot: merging small layers is done by then. */
const mostWaitMs = 200

export function squashes(engine: () => Engine): Squashes {
  let running: { work: Promise<void>; due: 'due' | 'overdue'; abort: AbortController } | null = null
  const stop = async () => {
    running?.abort.abort()
    await running?.work
  }
  return {
    start: (snapshot) => {
      const due = engine().backend(snapshot.backend).squashDue(snapshot)
      if (due === 'no' || running !== null) return
      const abort = new AbortController()
      // A failure leaves everything as it was: the layers are more than they need be, and right.
      const work = squash(engine(), snapshot.id, abort.signal)
        .catch(() => {})
        .finally(() => {
          running = null
        })
      running = { work, due, abort }
    },
    stop,
    close: async () => {
      if (running?.due === 'due') await Promise.race([running.work, sleep(mostWaitMs)])
      if (running?.due === 'due') await stop()
      await running?.work
    },
  }
}

async function squash(engine: Engine, id: SnapshotId, signal: AbortSignal): Promise<void> {
  using held = engine.store.leases.tryAcquire(lease, 'squashing layers')
  if (!held) return
  await rewriteLayers(engine, id, (backend, snapshot) => backend.squash(snapshot, signal))
}

/** Folds all that a snapshot and those it came from sealed into one layer. */
export async function compact(engine: Engine, id: SnapshotId): Promise<Compaction> {
  await engine.squashes.stop()
  await using _lease = await engine.store.leases.acquire(lease, 'compacting')
  return await rewriteLayers(engine, id, (backend, snapshot) => backend.compact(snapshot))
}

/** What became of the layers of a snapshot. */
export interface Compaction {
  readonly id: SnapshotId
  readonly layersBefore: number
  readonly layersAfter: number
  /** bytes that were written for it */
  readonly bytes: number
}

/** The snapshot stays while its layers are read: `prune` leaves alone what an open operation reads. */
async function rewriteLayers(
  engine: Engine,
  id: SnapshotId,
  merge: (backend: ReturnType<Engine['backend']>, of: SnapshotRecord) => Promise<Squashed>,
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
    for (const { id, status, image } of store.snapshots.list()) {
      const next = status === 'ready' ? rewrite(image) : null
      if (next !== null) store.snapshots.update(id, { image: next })
    }
    store.journal.finish(operation)
    return store.snapshots.resolve(id)
  })
}

/** After a crash: what was merged and not recorded goes; it is due again after the next snapshot. */
export async function discardUnrecorded(engine: Engine): Promise<void> {
  using held = engine.store.leases.tryAcquire(lease, 'removing what a squash left over')
  if (!held) return
  const records = engine.store.snapshots.list()
  const recorded = new Set(records.flatMap(({ sizes }) => Object.keys(sizes.squashed ?? {})))
  await engine.backend('native').discardUnrecorded(recorded)
}
