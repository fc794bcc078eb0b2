import type { Backend } from '../../backends/backend.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { discardSpares } from '../spares/discard.ts'

/**
 * Gives back what the remaining snapshots hold of removed ones and do not use. It fails no removal: the next
 * one tries again.
 */
export async function reclaim(engine: Engine): Promise<void> {
  const { store, backends, log } = engine
  // One that is not flushed has yet to note the size of its files.
  const ready = store.snapshots
    .list()
    .filter(({ status, durable }) => status === 'ready' && durable)
  for (const { name, storage } of backends()) {
    const own = ready.filter(({ backend }) => backend === name)
    if (storage === undefined || own.length === 0) continue
    try {
      await reclaimFrom(engine, storage, own)
    } catch (err) {
      log.warn({ err, backend: name }, 'disk space of removed snapshots was not given back')
    }
  }
}

/** Spares map files of their snapshots. If that is in the way, they go: they can be made again. */
async function reclaimFrom(
  engine: Engine,
  storage: NonNullable<Backend['storage']>,
  own: readonly SnapshotRecord[],
): Promise<void> {
  const { leftBytes } = await storage.reclaim(own)
  const concerned = new Set(own.map(({ id }) => id))
  const spares = engine.store.spares.list().filter(({ snapshot }) => concerned.has(snapshot))
  if (leftBytes === 0 || spares.length === 0) return
  await discardSpares(engine)
  await storage.reclaim(own)
}
