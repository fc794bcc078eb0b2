import type { Engine } from '../engine.ts'
import { discardSpares } from '../spares/discard.ts'
import { sameAgain } from '../spares/wants.ts'

/**
 * Gives back what the remaining snapshots hold of removed ones and do not use. It fails no removal: the next
 * one tries again.
 */
export async function reclaim(engine: Engine): Promise<void> {
  const mappedBytes = await reclaimOnce(engine)
  const spares = engine.store.spares.list()
  if (mappedBytes === 0 || spares.length === 0) return
  // They map what their snapshots hold of removed ones, and can be made again.
  await discardSpares(engine)
  await reclaimOnce(engine)
  engine.spares.want(sameAgain(spares))
}

/** Returns the bytes that something still maps. */
async function reclaimOnce({ store, backends, log }: Engine): Promise<number> {
  // One that is not flushed has yet to note the size of its files.
  const ready = store.snapshots
    .list()
    .filter(({ status, durable }) => status === 'ready' && durable)
  let mappedBytes = 0
  for (const { name, storage } of backends()) {
    const own = ready.filter(({ backend }) => backend === name)
    if (storage === undefined || own.length === 0) continue
    try {
      mappedBytes += await storage.reclaim(own)
    } catch (err) {
      log.warn({ err, backend: name }, 'disk space of removed snapshots was not given back')
    }
  }
  return mappedBytes
}
