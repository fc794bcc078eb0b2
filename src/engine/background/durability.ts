import { isAlive } from '../../linux/process-identity.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Lease } from '../../store/leases.ts'
import { requireFacet } from '../capabilities.ts'
import type { Engine } from '../engine.ts'

/** Flushes snapshots to disk after the call that took them has returned. */
export interface Flushes {
  /** Resolves when this snapshot is on disk and its record says so. */
  start(snapshot: SnapshotRecord): Promise<void>
  /** Begins in a moment, so that it does not compete with the caller's next operation. */
  startSoon(snapshot: SnapshotRecord): void
  all(): Promise<void>
}

interface Soon {
  readonly snapshot: SnapshotRecord
  readonly timer: NodeJS.Timeout
  readonly lease: Lease | undefined
}

const restMs = 200

const leaseOf = ({ id }: SnapshotRecord): string => `flush:${id}`

/** Makes snapshots durable that a killed process took but did not flush. */
export function resumeFlushes({ backend, store, flushes }: Engine): void {
  for (const snapshot of store.snapshots.list()) {
    if (snapshot.status !== 'ready' || snapshot.durable) continue
    if (backend(snapshot.backend).storage === undefined) continue
    const owner = store.leases.holder(leaseOf(snapshot))?.owner
    if (owner === undefined || !isAlive(owner)) void flushes.start(snapshot)
  }
}

type FlushEngine = Pick<Engine, 'backend' | 'store' | 'events' | 'log'>

async function flush(
  { backend, store, events }: FlushEngine,
  snapshot: SnapshotRecord,
  own: Lease | undefined,
): Promise<void> {
  // Another process that holds it may have a lot to write.
  const patience = { timeoutMs: Number.POSITIVE_INFINITY }
  await using _lease = own ?? (await store.leases.acquire(leaseOf(snapshot), 'flush', patience))
  if (store.snapshots.get(snapshot.id)?.durable !== false) return
  const storage = requireFacet(backend(snapshot.backend), 'storage', 'durable')
  const { filesBytes } = await storage.flush(snapshot)
  store.transaction(() => {
    const current = store.snapshots.get(snapshot.id)
    if (!current) return
    const sizes = { ...current.sizes, filesBytes }
    store.snapshots.update(snapshot.id, { durable: true, sizes })
  })
  events.emit({ type: 'durable', snapshot: snapshot.id, at: Date.now() })
}

export function flushes(engine: () => FlushEngine): Flushes {
  const pending = new Map<string, Promise<void>>()
  const soon = new Map<string, Soon>()
  const start = (snapshot: SnapshotRecord): Promise<void> => {
    const known = pending.get(snapshot.id)
    if (known) return known
    const begun = soon.get(snapshot.id)
    clearTimeout(begun?.timer)
    soon.delete(snapshot.id)
    const started = flush(engine(), snapshot, begun?.lease).finally(() =>
      pending.delete(snapshot.id),
    )
    pending.set(snapshot.id, started)
    // After a failed flush the snapshot is still there, but not durable; those who wait get the error.
    started.catch((err) => engine().log.warn({ err, snapshot: snapshot.id }, 'flushing failed'))
    return started
  }
  return {
    start,
    startSoon: (snapshot) => {
      if (engine().backend(snapshot.backend).storage === undefined) return
      // Acquired now, so that no other process thinks this snapshot was left behind.
      const lease = engine().store.leases.tryAcquire(leaseOf(snapshot), 'flush')
      const timer = setTimeout(() => void start(snapshot), restMs)
      soon.set(snapshot.id, { snapshot, timer, lease })
    },
    all: async () => {
      for (const { snapshot } of [...soon.values()]) void start(snapshot)
      await Promise.allSettled(pending.values())
    },
  }
}
