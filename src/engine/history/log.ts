import type { Phase } from '../../linux/stopwatch.ts'
import type { Json } from '../../model/environment.ts'
import type { ErrorJson } from '../../model/errors.ts'
import { isSnapshotId, type OperationId, type SnapshotId } from '../../model/ids.ts'
import type { Operation, OperationState } from '../../store/journal.ts'

/** One line of an environment's history. */
export interface LogEntry {
  readonly id: OperationId
  /** `create`, `snapshot`, `restore`, `fork`, `pause`, … */
  readonly kind: string
  /** `rolled_back`: its process was killed, and the next one undid or completed it */
  readonly state: OperationState
  /** the process that does or did it */
  readonly pid: number
  /** milliseconds since 1970 */
  readonly startedAt: number
  /** null while it goes on */
  readonly durationMs: number | null
  /** the snapshot that it took */
  readonly snapshot: SnapshotId | null
  /** the snapshot that it went back to or started from */
  readonly from: SnapshotId | null
  /** its steps, as far as they were measured */
  readonly phases: readonly Phase[]
  /** bytes of process images written */
  readonly bytes: number | null
  readonly error: ErrorJson | null
}

export function logEntry(operation: Operation): LogEntry {
  const { id, kind, state, owner, startedAt, endedAt, payload, error } = operation
  const { snapshot, from, phases, bytes, totalMs } = payload
  return {
    ...{ id, kind, state, pid: owner.pid, startedAt, error },
    durationMs: typeof totalMs === 'number' ? totalMs : endedAt && endedAt - startedAt,
    snapshot: isSnapshotId(snapshot) ? snapshot : null,
    from: isSnapshotId(from) ? from : null,
    phases: Array.isArray(phases) ? phases.filter(isPhase) : [],
    bytes: typeof bytes === 'number' ? bytes : null,
  }
}

function isPhase(value: Json): value is Phase {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) return false
  const { name, ms } = value as { readonly [key: string]: Json }
  return typeof name === 'string' && typeof ms === 'number'
}
