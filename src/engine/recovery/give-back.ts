import type { SnapshotId } from '../../model/ids.ts'
import type { Lease } from '../../store/leases.ts'
import type { Engine } from '../engine.ts'
import { retire } from '../spares/discard.ts'
import type { LiveRecord } from './liveness.ts'

/** Gives an environment back what a snapshot took that will not be; it is as its record says then. */
export async function giveBack(
  engine: Engine,
  record: LiveRecord,
  draft: SnapshotId,
): Promise<void> {
  const { id, instance } = record
  const backend = engine.backend(record.backend)
  // A life that cannot be ended must not keep the one that goes on frozen.
  const [retired] = await Promise.allSettled([retire(engine, record, instance)])
  await backend.uncapture(id, instance, draft)
  if (record.status === 'paused' && backend.isAlive(instance)) await backend.pause(id, instance)
  if (retired.status === 'rejected') throw retired.reason
  engine.store.snapshots.remove(draft)
}

/**
 * After a failure. Whoever seized the environment meanwhile is removing it, and ends its processes;
 * what was made since then is removed here.
 */
export async function giveBackUnlessSeized(
  engine: Engine,
  lease: Lease,
  record: LiveRecord,
  draft: SnapshotId,
): Promise<void> {
  if (lease.isHeld()) return await giveBack(engine, record, draft)
  await removeAfterSeizure(engine, record)
  await engine.backend(record.backend).discard(draft)
  engine.store.snapshots.remove(draft)
}

/** If it is still being removed, the next process finds what that leaves. */
export async function removeAfterSeizure(
  engine: Engine,
  { id, backend }: Pick<LiveRecord, 'id' | 'backend'>,
): Promise<void> {
  using lease = engine.store.leases.tryAcquire(`env:${id}`, 'removing what was left over')
  if (!lease || engine.store.environments.get(id)) return
  await engine.backend(backend).destroy(id)
}
