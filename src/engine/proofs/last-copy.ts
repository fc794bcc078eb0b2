import type { EnvironmentRecord } from '../../model/environment.ts'
import { ConflictError } from '../../model/errors.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { prove } from './prove.ts'

/**
 * Before the processes of an environment end: proves the snapshot that it was last captured in. Until
 * then they are the only sure copy of what the snapshot should hold. Refuses if it cannot be restored.
 */
export async function secureLastCopy(engine: Engine, record: EnvironmentRecord): Promise<void> {
  const last = lastCaptureOf(engine, record)
  if (last === null || last.proof === 'proven') return
  if (last.proof === 'failed') throw isLastCopy(record, last)
  try {
    await prove(engine, last.id)
  } catch (error) {
    const now = engine.store.snapshots.get(last.id)
    throw now?.proof === 'failed' ? isLastCopy(record, now) : error
  }
}

/** Null if nothing that runs would be lost: it is dead, or was never captured, or only forked. */
function lastCaptureOf(
  { store }: Engine,
  { id, head, status }: EnvironmentRecord,
): SnapshotRecord | null {
  if (head === null || (status !== 'running' && status !== 'paused')) return null
  const last = store.snapshots.get(head)
  return last?.environmentId === id && last.status !== 'writing' ? last : null
}

function isLastCopy(record: EnvironmentRecord, last: SnapshotRecord): ConflictError {
  const why = last.failure?.message ?? 'no reason was recorded'
  const message = `environment ${record.name ?? record.id} is the only copy of its state: its last snapshot ${last.name ?? last.id} cannot be restored: ${why}`
  return new ConflictError(message, {
    remedy:
      'take another snapshot once the cause is gone, and try again; or give the state up with `--force`',
    detail: { environment: record.id, snapshot: last.id },
  })
}
