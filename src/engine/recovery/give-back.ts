import type { SnapshotId } from '../../model/ids.ts'
import type { Lease } from '../../store/leases.ts'
import { requireFacet } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { retire } from '../spares/discard.ts'
import type { LiveRecord } from './liveness.ts'

/** Gives an environment back what an unfinished snapshot took; afterwards it is as its record says. */
export async function giveBack(
  engine: Engine,
  record: LiveRecord,
  draft: SnapshotId,
): Promise<void> {
  const backend = engine.backend(record.backend)
  // Even if another life cannot be ended, the one that continues must not stay frozen.
  const [retired] = await Promise.allSettled([retire(engine, record, record.instance)])
  await backend.abandon(record, draft)
  if (record.status === 'paused' && (await backend.alive([record])).has(record.id)) {
    await requireFacet(backend, 'pausing').pause(record)
  }
  if (retired.status === 'rejected') throw retired.reason
  engine.store.snapshots.remove(draft)
}

/**
 * Gives back after a failure. If somebody seized the environment meanwhile, they are removing it and
 * end its processes; what was made since then is removed here.
 */
export async function giveBackUnlessSeized(
  engine: Engine,
  lease: Lease,
  record: LiveRecord,
  draft: SnapshotId,
): Promise<void> {
  if (lease.isHeld()) return await giveBack(engine, record, draft)
  await removeAfterSeizure(engine, record)
  await engine.backend(record.backend).abandon(null, draft)
  engine.store.snapshots.remove(draft)
}

/** Does nothing while the removal is still running; the next process then finds the rest. */
export async function removeAfterSeizure(
  engine: Engine,
  { id, backend }: Pick<LiveRecord, 'id' | 'backend'>,
): Promise<void> {
  using lease = engine.store.leases.tryAcquire(`env:${id}`, 'removing leftovers')
  if (!lease || engine.store.environments.get(id)) return
  await engine.backend(backend).destroy(id)
}
