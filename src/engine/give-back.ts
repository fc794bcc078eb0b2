import type { SnapshotId } from '../model/ids.ts'
import type { Engine } from './engine.ts'
import type { LiveRecord } from './liveness.ts'
import { retire } from './spares/discard.ts'

/** Gives an environment back what a snapshot took that will not be; it is as its record says then. */
export async function giveBack(
  engine: Engine,
  record: LiveRecord,
  draft: SnapshotId,
): Promise<void> {
  const { id, instance } = record
  const backend = engine.backend(record.backend)
  await retire(engine, record, instance)
  await backend.uncapture(id, instance, draft)
  if (record.status === 'paused' && backend.isAlive(instance)) await backend.pause(id, instance)
  engine.store.snapshots.remove(draft)
}
