import type { LogEntry } from '../../api/contract/data/environment.ts'
import { NotFoundError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { Store } from '../../store/open-store.ts'

/** Whose history a reference means: the last one that had this name, if none has it now. */
export function loggedId({ environments, journal }: Store, reference: string): EnvironmentId {
  try {
    return environments.resolve(reference).id
  } catch (error) {
    const removed = error instanceof NotFoundError ? journal.removed(reference) : undefined
    if (removed === undefined) throw error
    return removed
  }
}

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
