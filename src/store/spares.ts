import { isAlive, type ProcessIdentity, selfIdentity } from '../linux/process-identity.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { SpareKind, SpareRecord } from '../model/spare.ts'
import type { Database, Row } from './database.ts'
import { ownerOf } from './owner.ts'

/** A spare and its owner. */
export interface OwnedSpare extends SpareRecord {
  /** `unwanted`: the process that is making it should end it */
  readonly state: 'making' | 'ready' | 'unwanted'
  readonly owner: ProcessIdentity
}

export type ReadySpare = SpareRecord & { readonly instance: NonNullable<SpareRecord['instance']> }

export interface SpareFilter {
  readonly kind?: SpareKind
  readonly snapshot?: SnapshotId
  readonly environmentId?: EnvironmentId
}

export type NewSpare = Omit<SpareRecord, 'instance' | 'memoryBytes'>

/** Prepared branches. Any process may take one; only the process that made it records it. */
export interface Spares {
  begin(spare: NewSpare): void
  /** Makes it available; false if nobody wants it anymore. */
  ready(id: string, made: Pick<ReadySpare, 'instance' | 'memoryBytes'>): boolean
  /** The oldest ready one, for this caller alone. */
  take(which: SpareFilter & { readonly id?: string }): ReadySpare | undefined
  /** Asks the process that is still making it to end it. */
  cancel(id: string): void
  get(id: string): OwnedSpare | undefined
  /** Oldest first. */
  list(which?: SpareFilter): OwnedSpare[]
  /** Those whose process is gone. */
  abandoned(): OwnedSpare[]
  remove(id: string): void
}

const matching = `(?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR snapshot = ?2)
  AND (?3 IS NULL OR environment_id = ?3)`

const valuesOf = ({ kind, snapshot, environmentId }: SpareFilter) =>
  [kind ?? null, snapshot ?? null, environmentId ?? null] as const

export function spares(db: Database): Spares {
  const list = (which: SpareFilter = {}): OwnedSpare[] =>
    db
      .all(`SELECT * FROM spares WHERE ${matching} ORDER BY created_at, rowid`, ...valuesOf(which))
      .map(fromRow)
  return {
    list,
    begin: (spare) => insert(db, spare),
    ready: (id, { instance, memoryBytes }) => {
      const sql = `UPDATE spares SET state = 'ready', memory_bytes = ?,
        doc = json_set(doc, '$.instance', json(?)) WHERE id = ? AND state = 'making'`
      return db.run(sql, memoryBytes, JSON.stringify(instance), id) === 1
    },
    take: (which) => {
      const sql = `DELETE FROM spares WHERE id = (
        SELECT id FROM spares WHERE ${matching} AND (?4 IS NULL OR id = ?4) AND state = 'ready'
        ORDER BY created_at, rowid LIMIT 1) RETURNING *`
      const row = db.get(sql, ...valuesOf(which), which.id ?? null)
      const { instance, ...spare } = row ? fromRow(row) : { instance: null }
      return instance === null ? undefined : ({ ...spare, instance } as ReadySpare)
    },
    cancel: (id) => {
      db.run(`UPDATE spares SET state = 'unwanted' WHERE id = ? AND state = 'making'`, id)
    },
    get: (id) => {
      const row = db.get('SELECT * FROM spares WHERE id = ?', id)
      return row && fromRow(row)
    },
    abandoned: () => list().filter(({ owner }) => !isAlive(owner)),
    remove: (id) => {
      db.run('DELETE FROM spares WHERE id = ?', id)
    },
  }
}

function insert(db: Database, spare: NewSpare): void {
  const { id, kind, snapshot, environmentId, createdAt, name, limits } = spare
  const { pid, startTicks, bootId } = selfIdentity()
  const doc: Doc = { name, limits, instance: null }
  db.run(
    `INSERT INTO spares (id, kind, snapshot, environment_id, state, owner_pid, owner_start,
       owner_boot, created_at, memory_bytes, doc)
     VALUES (?, ?, ?, ?, 'making', ?, ?, ?, ?, 0, ?)`,
    id,
    kind,
    snapshot,
    environmentId,
    pid,
    startTicks,
    bootId,
    createdAt,
    JSON.stringify(doc),
  )
}

type Doc = Pick<SpareRecord, 'name' | 'limits' | 'instance'>

function fromRow(row: Row): OwnedSpare {
  const doc: Doc = JSON.parse(String(row.doc))
  return {
    id: String(row.id),
    kind: row.kind as SpareKind,
    snapshot: row.snapshot as SnapshotId,
    environmentId: row.environment_id as EnvironmentId,
    state: row.state as OwnedSpare['state'],
    owner: ownerOf(row),
    createdAt: Number(row.created_at),
    memoryBytes: Number(row.memory_bytes),
    ...doc,
  }
}
