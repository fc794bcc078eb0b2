import type { LogEntry } from '../../api/contract/data/environment.ts'
import type { Operation } from '../../store/journal.ts'

export function logEntry(operation: Operation): LogEntry {
  const { id, kind, state, owner, startedAt, endedAt, payload, error } = operation
  const { snapshot = null, from = null, phases = [], bytes = null, totalMs, cause } = payload
  return {
    id,
    kind,
    state,
    pid: owner.pid,
    startedAt,
    error,
    durationMs: totalMs ?? (endedAt && endedAt - startedAt),
    snapshot,
    from,
    phases,
    bytes,
    cause: cause ?? null,
  }
}
