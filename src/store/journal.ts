import { isAlive, type ProcessIdentity, selfIdentity } from '../linux/process-identity.ts'
import { ConflictError, type ErrorJson, toJson } from '../model/errors.ts'
import { type EnvironmentId, newOperationId, type OperationId } from '../model/ids.ts'
import type { Database, Row } from './database.ts'
import { type OperationFacts, parseFacts } from './operation-facts.ts'
import { ownerOf } from './owner.ts'
import { currentRequest } from './requests.ts'

export type OperationState = 'open' | 'done' | 'failed' | 'rolled_back'

/** An operation, recorded before it touches the disk and closed afterwards. */
export interface Operation {
  readonly id: OperationId
  readonly kind: string
  readonly environmentId: EnvironmentId | null
  readonly state: OperationState
  readonly payload: OperationFacts
  readonly owner: ProcessIdentity
  readonly startedAt: number
  readonly endedAt: number | null
  readonly error: ErrorJson | null
}

export interface Journal {
  begin(kind: string, environmentId: EnvironmentId | null, payload?: OperationFacts): Operation
  /** It worked; the patch is what its history should show: times, sizes. */
  finish(operation: Operation, patch?: OperationFacts): Operation
  /** It did not work, and the operation itself undid everything. */
  fail(operation: Operation, error: unknown): Operation
  /** Its process died, and recovery undid everything. */
  rolledBack(operation: Operation): Operation
  /** Every operation on an environment, oldest first. */
  list(environmentId: EnvironmentId): Operation[]
  /** When the operation began that made its present life from something else; undefined if none has. */
  lastBegun(environmentId: EnvironmentId): number | undefined
  /** The environment that was removed last, of those with this name, id or beginning of an id. */
  removed(reference: string): EnvironmentId | undefined
  /** Every operation that was part of a request, oldest first. */
  ofRequest(key: string): Operation[]
  /** Operations that have not ended, of one environment or all, oldest first. */
  open(environmentId?: EnvironmentId): Operation[]
  /** Open operations whose process is gone, oldest first. */
  abandoned(environmentId?: EnvironmentId): Operation[]
  /** Makes this process the owner of an abandoned operation; undefined if another was faster. */
  claim(operation: Operation): Operation | undefined
}

export function journal(db: Database): Journal {
  const open = (environmentId?: EnvironmentId): Operation[] => openOperations(db, environmentId)
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
    finish: (operation, patch = {}) => close(db, operation, 'done', { patch }),
    fail: (operation, error) => close(db, operation, 'failed', { error: toJson(error) }),
    rolledBack: (operation) => close(db, operation, 'rolled_back', {}),
    list: (environmentId) => {
      const sql = 'SELECT * FROM journal WHERE environment_id = ? ORDER BY started_at, rowid'
      return db.all(sql, environmentId).map(fromRow)
    },
    lastBegun: (environmentId) => {
      const sql = `SELECT max(started_at) AS at FROM journal WHERE environment_id = ? AND state = 'done'
         AND kind IN ('create', 'attach', 'fork', 'restore', 'promote')`
      const at = db.get(sql, environmentId)?.at
      return typeof at === 'number' ? at : undefined
    },
    removed: (reference) => {
      const sql = `SELECT environment_id FROM journal WHERE kind = 'remove' AND state = 'done'
         AND (json_extract(payload, '$.name') = ?1 OR substr(environment_id, 1, length(?1)) = ?1)
         ORDER BY started_at DESC LIMIT 1`
      const row = db.get(sql, reference)
      return row && (row.environment_id as EnvironmentId)
    },
    ofRequest: (key) => {
      const sql = 'SELECT * FROM journal WHERE request = ? ORDER BY started_at, rowid'
      return db.all(sql, key).map(fromRow)
    },
    abandoned: (environmentId) => open(environmentId).filter(({ owner }) => !isAlive(owner)),
    claim: (operation) => claim(db, operation),
  }
}

/** Searches among the open operations: few ever are, while an environment may have a long history. */
function openOperations(db: Database, environmentId: EnvironmentId | undefined): Operation[] {
  const sql = `SELECT * FROM journal WHERE state = 'open' AND (?1 IS NULL OR environment_id = ?1)
     ORDER BY started_at, id`
  return db.all(sql, environmentId ?? null).map(fromRow)
}

interface Outcome {
  readonly error?: ErrorJson
  readonly patch?: OperationFacts
}

function close(
  db: Database,
  operation: Operation,
  state: OperationState,
  { error, patch }: Outcome,
): Operation {
  const payload = { ...operation.payload, ...patch }
  const closed = { ...operation, state, endedAt: Date.now(), error: error ?? null, payload }
  const changed = db.run(
    `UPDATE journal SET state = ?, ended_at = ?, error = ?, payload = ?
     WHERE id = ? AND state = 'open'`,
    state,
    closed.endedAt,
    error === undefined ? null : JSON.stringify(error),
    JSON.stringify(payload),
    operation.id,
  )
  if (changed === 0) throw notOpen(operation)
  return closed
}

/** A compare-and-swap of the owner: if several processes try to recover, exactly one succeeds. */
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
       (id, kind, environment_id, state, payload, owner_pid, owner_start, owner_boot, started_at,
        request)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    operation.id,
    operation.kind,
    operation.environmentId,
    operation.state,
    JSON.stringify(operation.payload),
    operation.owner.pid,
    operation.owner.startTicks,
    operation.owner.bootId,
    operation.startedAt,
    currentRequest(),
  )
}

function notOpen(operation: Operation): ConflictError {
  return new ConflictError(`the operation ${operation.id} (${operation.kind}) was already closed`, {
    remedy: 'another process recovered it; run the command again',
  })
}

function fromRow(row: Row): Operation {
  return {
    id: row.id as OperationId,
    kind: String(row.kind),
    environmentId: row.environment_id as EnvironmentId | null,
    state: row.state as OperationState,
    payload: parseFacts(String(row.payload)),
    owner: ownerOf(row),
    startedAt: Number(row.started_at),
    endedAt: row.ended_at as number | null,
    error: row.error === null ? null : JSON.parse(String(row.error)),
  }
}
