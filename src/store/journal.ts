import { isAlive, type ProcessIdentity, selfIdentity } from '../linux/process-identity.ts'
import type { Json } from '../model/environment.ts'
import { ConflictError, type ErrorJson, toJson } from '../model/errors.ts'
import { type EnvironmentId, newOperationId, type OperationId } from '../model/ids.ts'
import type { Database, Row } from './database.ts'
import { ownerOf } from './owner.ts'

export type OperationState = 'open' | 'done' | 'failed' | 'rolled_back'

/** What recovery needs to know, and at the end what its history should tell. */
export type Payload = { readonly [key: string]: Json }

/** An operation, written down before it touches the disk and closed after. */
export interface Operation {
  readonly id: OperationId
  readonly kind: string
  readonly environmentId: EnvironmentId | null
  readonly state: OperationState
  readonly payload: Payload
  readonly owner: ProcessIdentity
  readonly startedAt: number
  readonly endedAt: number | null
  readonly error: ErrorJson | null
}

export interface Journal {
  begin(kind: string, environmentId: EnvironmentId | null, payload?: Payload): Operation
  /** It worked; the patch is what its history should tell: times, sizes. */
  finish(operation: Operation, patch?: Payload): Operation
  /** It did not work, and the operation itself put everything back. */
  fail(operation: Operation, error: unknown): Operation
  /** Its process died, and recovery put everything back. */
  rolledBack(operation: Operation): Operation
  /** What was ever done with an environment, oldest first. */
  list(environmentId: EnvironmentId): Operation[]
  /** Operations that have not ended, of one environment or all, oldest first. */
  open(environmentId?: EnvironmentId): Operation[]
  /** Open operations whose process is gone, oldest first. */
  abandoned(environmentId?: EnvironmentId): Operation[]
  /** Makes this process the owner of an abandoned one; undefined if another was faster. */
  claim(operation: Operation): Operation | undefined
}

export function journal(db: Database): Journal {
  const close = (
    operation: Operation,
    state: OperationState,
    { error = null, patch = {} }: { error?: ErrorJson | null; patch?: Payload } = {},
  ) => {
    const payload = { ...operation.payload, ...patch }
    const closed = { ...operation, state, endedAt: Date.now(), error, payload }
    const changed = db.run(
      `UPDATE journal SET state = ?, ended_at = ?, error = ?, payload = ?
       WHERE id = ? AND state = 'open'`,
      state,
      closed.endedAt,
      error && JSON.stringify(error),
      JSON.stringify(payload),
      operation.id,
    )
    if (changed === 0) throw notOpen(operation)
    return closed
  }

  // Looked up among the open ones: an environment may have a long history, and few are ever open.
  const open = (environmentId?: EnvironmentId): Operation[] =>
    db
      .all(
        `SELECT * FROM journal WHERE state = 'open' AND (?1 IS NULL OR environment_id = ?1)
         ORDER BY started_at, id`,
        environmentId ?? null,
      )
      .map(fromRow)

  return {
    open,
    begin: (kind, environmentId, payload = {}) => {
      const operation: Operation = {
        id: newOperationId(),
        kind,
        environmentId,
        state: 'open',
        payload,
        owner: selfIdentity(),
        startedAt: Date.now(),
        endedAt: null,
        error: null,
      }
      insert(db, operation)
      return operation
    },
    finish: (operation, patch = {}) => close(operation, 'done', { patch }),
    fail: (operation, error) => close(operation, 'failed', { error: toJson(error) }),
    rolledBack: (operation) => close(operation, 'rolled_back'),
    list: (environmentId) =>
      db
        .all(
          'SELECT * FROM journal WHERE environment_id = ? ORDER BY started_at, rowid',
          environmentId,
        )
        .map(fromRow),
    abandoned: (environmentId) => open(environmentId).filter(({ owner }) => !isAlive(owner)),
    claim: (operation) => claim(db, operation),
  }
}

/** Compares and swaps the owner, so that of several recovering processes exactly one succeeds. */
function claim(db: Database, operation: Operation): Operation | undefined {
  const self = selfIdentity()
  const { pid, startTicks, bootId } = operation.owner
  const changed = db.run(
    `UPDATE journal SET owner_pid = ?, owner_start = ?, owner_boot = ?
     WHERE id = ? AND state = 'open' AND owner_pid = ? AND owner_start = ? AND owner_boot = ?`,
    self.pid,
    self.startTicks,
    self.bootId,
    operation.id,
    pid,
    startTicks,
    bootId,
  )
  return changed === 1 ? { ...operation, owner: self } : undefined
}

function insert(db: Database, operation: Operation): void {
  db.run(
    `INSERT INTO journal
       (id, kind, environment_id, state, payload, owner_pid, owner_start, owner_boot, started_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    operation.id,
    operation.kind,
    operation.environmentId,
    operation.state,
    JSON.stringify(operation.payload),
    operation.owner.pid,
    operation.owner.startTicks,
    operation.owner.bootId,
    operation.startedAt,
  )
}

function notOpen(operation: Operation): ConflictError {
  return new ConflictError(`the operation ${operation.id} (${operation.kind}) is closed already`, {
    remedy: 'another process recovered it; run the command again',
  })
}

function fromRow(row: Row): Operation {
  return {
    id: row.id as OperationId,
    kind: String(row.kind),
    environmentId: row.environment_id as EnvironmentId | null,
    state: row.state as OperationState,
    payload: JSON.parse(String(row.payload)),
    owner: ownerOf(row),
    startedAt: Number(row.started_at),
    endedAt: row.ended_at as number | null,
    error: row.error === null ? null : JSON.parse(String(row.error)),
  }
}
