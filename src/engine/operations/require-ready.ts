import { ConflictError } from '../../model/errors.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { unrestorable } from '../proofs/record-proof.ts'

/** Refuses a snapshot that nothing can be made from. */
export function requireReady(snapshot: SnapshotRecord): void {
  if (snapshot.status === 'ready') return
  if (snapshot.proof === 'failed') throw unrestorable(snapshot)
  throw new ConflictError(`snapshot ${snapshot.name ?? snapshot.id} is ${snapshot.status}`, {
    remedy:
      snapshot.status === 'writing' ? 'try again when it is ready' : 'choose another snapshot',
  })
}
