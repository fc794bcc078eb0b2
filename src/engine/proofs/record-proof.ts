import { BackendError, ConflictError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotFailure, SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'

/** Something was made from it. Call it in the transaction that records what. */
export function recordProven({ store }: Engine, id: SnapshotId): void {
  const record = store.snapshots.get(id)
  if (record?.proof !== 'unproven') return
  store.snapshots.update(id, { proof: 'proven' })
}

/** Nothing can be made from it. Its environment continues, and is told by a warning. */
export function recordFailed(engine: Engine, id: SnapshotId, error: BackendError): void {
  const { store } = engine
  const failed = store.transaction(() => {
    const record = store.snapshots.get(id)
    // Meanwhile somebody may have made something from it after all, or removed it.
    if (record?.proof !== 'unproven' || record.status !== 'ready') return null
    return store.snapshots.update(id, {
      status: 'failed',
      proof: 'failed',
      failure: failureOf(error),
    })
  })
  if (failed === null) return
  engine.log.warn({ err: error, snapshot: id }, 'a snapshot cannot be restored')
  engine.warnings.add(`proof:${id}`, unrestorable(failed))
}

function failureOf({ message, remedy, logPath }: BackendError): SnapshotFailure {
  return {
    message,
    ...(remedy !== undefined && { remedy }),
    ...(logPath !== undefined && { logPath }),
  }
}

/** Whether the snapshot itself is the reason of a failure, and not the machine. */
export function isItsOwnFault(error: unknown): error is BackendError {
  return error instanceof BackendError && error.isPermanent
}

/** The error for whoever asks for something that is made from a snapshot whose proof failed. */
export function unrestorable({ id, name, failure }: SnapshotRecord): ConflictError {
  const why = failure?.message ?? 'no reason was recorded'
  return new ConflictError(`snapshot ${name ?? id} cannot be restored: ${why}`, {
    remedy: `${failure?.remedy ?? 'change what the error names'}; then take another snapshot`,
    detail: { snapshot: id, ...(failure && { failure }) },
  })
}
