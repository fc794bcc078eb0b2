import type { Engine } from '../engine.ts'

/**
 * Gives back what the remaining snapshots hold of removed ones and do not use. It fails no removal: the next
 * one tries again.
 */
export async function reclaim({ store, backends, log }: Engine): Promise<void> {
  // One that is not flushed has yet to note the size of its files.
  const ready = store.snapshots
    .list()
    .filter(({ status, durable }) => status === 'ready' && durable)
  for (const { name, storage } of backends()) {
    const own = ready.filter(({ backend }) => backend === name)
    if (storage === undefined || own.length === 0) continue
    try {
      await storage.reclaim(own)
    } catch (err) {
      log.warn({ err, backend: name }, 'disk space of removed snapshots was not given back')
    }
  }
}
