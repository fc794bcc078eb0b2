import { isAlive } from '../../linux/process-identity.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Lease } from '../../store/leases.ts'
import type { Engine } from '../engine.ts'

/** Snapshots on their way to the disk, after the call that took them has returned. */
export interface Flushes {
  /** Resolves when this snapshot is on disk and its record says so. */
  start(snapshot: SnapshotRecord): Promise<void>
  /** Begins in a moment: who goes on at once does not have to share the disk. */
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

/** Snapshots that a killed process has taken and not flushed become durable all the same. */
export function resumeFlushes({ store, flushes }: Engine): void {
  for (const snapshot of store.snapshots.list()) {
    if (snapshot.status !== 'ready' || snapshot.durable) continue
    const owner = store.leases.holder(leaseOf(snapshot))?.owner
    if (owner === undefined || !isAlive(owner)) void flushes.start(snapshot)
  }
}

export function flushes(engine: () => Pick<Engine, 'backend' | 'store' | 'events'>): Flushes {
  const pending = new Map<string, Promise<void>>()
  const flush = async (snapshot: SnapshotRecord, own: Lease | undefined): Promise<void> => {
    const { backend, store, events } = engine()
    // Another process may have much to write.
    const patience = { timeoutMs: Number.POSITIVE_INFINITY }
    await using _lease = own ?? (await store.leases.acquire(leaseOf(snapshot), 'flush', patience))
    if (store.snapshots.get(snapshot.id)?.durable !== false) return
    const { filesBytes } = await backend(snapshot.backend).flush(snapshot)
    store.transaction(() => {
      const current = store.snapshots.get(snapshot.id)
      if (!current) return
      const sizes = { ...current.sizes, filesBytes }
      store.snapshots.update(snapshot.id, { durable: true, sizes })
    })
    events.emit({ type: 'durable', snapshot: snapshot.id, at: Date.now() })
  }
  const soon = new Map<string, Soon>()
  const start = (snapshot: SnapshotRecord): Promise<void> => {
    const known = pending.get(snapshot.id)
    if (known) return known
    const begun = soon.get(snapshot.id)
    clearTimeout(begun?.timer)
    soon.delete(snapshot.id)
    const started = flush(snapshot, begun?.lease).finally(() => pending.delete(snapshot.id))
    pending.set(snapshot.id, started)
    // A flush that fails leaves the snapshot as it is, not durable; those who wait are told.
    started.catch(() => {})
    return started
  }
  return {
    start,
    startSoon: (snapshot) => {
      // From now on, so that no other process takes it for one that was left behind.
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
