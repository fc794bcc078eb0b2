import { ConflictError, NotFoundError } from '../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { SnapshotRecord, SnapshotStatus } from '../model/snapshot.ts'
import { quote } from '../model/text/quote.ts'
import type { Name } from '../model/values/names.ts'
import type { Database, Row } from './database.ts'
import {
  environmentRows,
  explainingNames,
  requireUnlike,
  resolveReference,
  snapshotRows,
} from './references.ts'
import { isForeignKeyViolation } from './sqlite-errors.ts'

export type SnapshotPatch = Partial<Omit<SnapshotRecord, 'id' | 'createdAt' | 'environmentId'>>

export interface Snapshots {
  insert(record: SnapshotRecord): void
  get(id: SnapshotId): SnapshotRecord | undefined
  /** By id, name or unique prefix of an id. */
  resolve(ref: string): SnapshotRecord
  any(): boolean
  /** Oldest first; those of one environment, or all. */
  list(environmentId?: EnvironmentId): SnapshotRecord[]
  update(id: SnapshotId, patch: SnapshotPatch): SnapshotRecord
  /** Refused while another snapshot or an environment builds on it. */
  remove(id: SnapshotId): void
}

export function snapshots(db: Database): Snapshots {
  const get = (id: SnapshotId): SnapshotRecord | undefined => {
    const row = db.get('SELECT * FROM snapshots WHERE id = ?', id)
    return row && fromRow(row)
  }
  return {
    get,
    insert: (record) =>
      db.transaction(() => {
        requireUnlike(db, environmentRows, record.name)
        insert(db, record)
      }),
    resolve: (ref) => fromRow(resolveReference(db, snapshotRows, ref)),
    any: () => db.get('SELECT 1 FROM snapshots LIMIT 1') !== undefined,
    list: (environmentId) => rowsOf(db, environmentId).map(fromRow),
    update: (id, patch) =>
      db.transaction(() => {
        const current = get(id)
        if (current === undefined) throw notFound(id)
        const next = { ...current, ...patch }
        // Homes of earlier releases may have both.
        if (next.name !== current.name) requireUnlike(db, environmentRows, next.name)
        write(db, next)
        return next
      }),
    remove: (id) => {
      try {
        db.run('DELETE FROM snapshots WHERE id = ?', id)
      } catch (error) {
        throw isForeignKeyViolation(error) ? stillNeeded(db, id, error) : error
      }
    },
  }
}

function rowsOf(db: Database, environmentId: EnvironmentId | undefined): Row[] {
  if (environmentId === undefined) {
    return db.all('SELECT * FROM snapshots ORDER BY created_at, id')
  }
  const sql = 'SELECT * FROM snapshots WHERE environment_id = ? ORDER BY created_at, id'
  return db.all(sql, environmentId)
}

function insert(db: Database, record: SnapshotRecord): void {
  const { id, name, environmentId, parent, status, durable, createdAt } = record
  const sql =
    'INSERT INTO snapshots (id, name, environment_id, parent, status, durable, created_at, doc) ' +
    'VALUES (?, ?, ?, ?, ?, ?, ?, ?)'
  const flag = Number(durable)
  explainingNames(db, snapshotRows, name, () =>
    db.run(sql, id, name, environmentId, parent, status, flag, createdAt, docOf(record)),
  )
}

function write(db: Database, record: SnapshotRecord): void {
  const { id, name, parent, status, durable } = record
  const sql =
    'UPDATE snapshots SET name = ?, parent = ?, status = ?, durable = ?, doc = ? WHERE id = ?'
  explainingNames(db, snapshotRows, name, () =>
    db.run(sql, name, parent, status, Number(durable), docOf(record), id),
  )
}

function notFound(id: SnapshotId): NotFoundError {
  return new NotFoundError(`no snapshot ${quote(id)}`, {
    remedy: '`forkpoint snapshots` lists them',
  })
}

type Doc = Pick<
  SnapshotRecord,
  | 'backend'
  | 'by'
  | 'principal'
  | 'proof'
  | 'failure'
  | 'captured'
  | 'original'
  | 'message'
  | 'labels'
  | 'metadata'
  | 'sizes'
  | 'timing'
  | 'memory'
  | 'shells'
  | 'lost'
  | 'origin'
  | 'image'
>

function docOf(record: SnapshotRecord): string {
  const { backend, by, proof, captured, original, message, labels, metadata } = record
  const { sizes, timing, origin, image } = record
  const doc: Doc = {
    backend,
    by,
    proof,
    captured,
    original,
    message,
    labels,
    metadata,
    sizes,
    timing,
    origin,
    image,
    ...(record.principal !== undefined && { principal: record.principal }),
    ...(record.failure !== undefined && { failure: record.failure }),
    ...(record.memory !== undefined && { memory: record.memory }),
    ...(record.shells !== undefined && { shells: record.shells }),
    ...(record.lost !== undefined && { lost: record.lost }),
  }
  return JSON.stringify(doc)
}

function fromRow(row: Row): SnapshotRecord {
  const doc: Omit<Doc, 'proof' | 'original' | 'by'> & Partial<Doc> = JSON.parse(String(row.doc))
  return {
    // Not recorded by earlier releases. Most were taken by callers.
    by: 'user',
    // Earlier releases restored every snapshot once before they recorded it.
    proof: 'proven',
    // Before it was recorded, whoever captured processes replaced them.
    original: doc.captured.includes('processes') ? 'replaced' : 'kept',
    id: row.id as SnapshotId,
    name: row.name as Name | null,
    environmentId: row.environment_id as EnvironmentId,
    parent: row.parent as SnapshotId | null,
    status: row.status as SnapshotStatus,
    durable: row.durable === 1,
    createdAt: Number(row.created_at),
    ...doc,
  }
}

function stillNeeded(db: Database, id: SnapshotId, cause: unknown): ConflictError {
  const users = db
    .all(
      'SELECT id FROM snapshots WHERE parent = ?1 UNION ALL ' +
        'SELECT id FROM environments WHERE head = ?1',
      id,
    )
    .map((row) => String(row.id))
  return new ConflictError(`snapshot ${id} is still needed by ${users.join(', ')}`, {
    remedy: 'remove those first',
    detail: { id, users },
    cause,
  })
}
