import type { EnvironmentRecord, EnvironmentStatus } from '../model/environment.ts'
import { NotFoundError } from '../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import { quote } from '../model/text/quote.ts'
import { carries } from '../model/values/labels.ts'
import type { Name } from '../model/values/names.ts'
import type { Database, Row } from './database.ts'
import {
  environmentRows,
  explainingNames,
  requireUnlike,
  resolveReference,
  snapshotRows,
} from './references.ts'

export type EnvironmentPatch = Partial<Omit<EnvironmentRecord, 'id' | 'createdAt'>>

export interface EnvironmentFilter {
  readonly status?: EnvironmentStatus | readonly EnvironmentStatus[]
  /** labels that must all be present with these values */
  readonly labels?: Readonly<Record<string, string>>
}

export interface Environments {
  insert(record: EnvironmentRecord): void
  get(id: EnvironmentId): EnvironmentRecord | undefined
  /** By id, name or unique prefix of an id. */
  resolve(ref: string): EnvironmentRecord
  any(): boolean
  /** Oldest first. */
  list(filter?: EnvironmentFilter): EnvironmentRecord[]
  update(id: EnvironmentId, patch: EnvironmentPatch): EnvironmentRecord
  /** Removing one that is already gone is not an error: recovery may repeat a step. */
  remove(id: EnvironmentId): void
}

export function environments(db: Database): Environments {
  const fromRow = rowReader()
  const get = (id: EnvironmentId): EnvironmentRecord | undefined => {
    const row = db.get('SELECT * FROM environments WHERE id = ?', id)
    return row && fromRow(row)
  }
  return {
    get,
    insert: (record) =>
      db.transaction(() => {
        requireUnlike(db, snapshotRows, record.name)
        insert(db, record)
      }),
    resolve: (ref) => fromRow(resolveReference(db, environmentRows, ref)),
    any: () => db.get('SELECT 1 FROM environments LIMIT 1') !== undefined,
    list: (filter = {}) =>
      db
        .all('SELECT * FROM environments ORDER BY created_at, id')
        .map(fromRow)
        .filter((record) => matches(record, filter)),
    update: (id, patch) =>
      db.transaction(() => {
        const current = get(id)
        if (current === undefined) throw notFound(id)
        const next = { ...current, ...patch }
        // Homes of earlier releases may have both.
        if (next.name !== current.name) requireUnlike(db, snapshotRows, next.name)
        write(db, next)
        return next
      }),
    remove: (id) => {
      db.run('DELETE FROM environments WHERE id = ?', id)
    },
  }
}

function insert(db: Database, record: EnvironmentRecord): void {
  const { id, name, backend, status, head, createdAt } = record
  const sql =
    'INSERT INTO environments (id, name, backend, status, head, created_at, doc) ' +
    'VALUES (?, ?, ?, ?, ?, ?, ?)'
  explainingNames(db, environmentRows, name, () =>
    db.run(sql, id, name, backend, status, head, createdAt, docOf(record)),
  )
}

function write(db: Database, record: EnvironmentRecord): void {
  const { id, name, backend, status, head } = record
  const sql =
    'UPDATE environments SET name = ?, backend = ?, status = ?, head = ?, doc = ? WHERE id = ?'
  explainingNames(db, environmentRows, name, () =>
    db.run(sql, name, backend, status, head, docOf(record), id),
  )
}

function notFound(id: EnvironmentId): NotFoundError {
  return new NotFoundError(`no environment ${quote(id)}`, { remedy: '`forkpoint ls` lists them' })
}

type Doc = Pick<
  EnvironmentRecord,
  | 'source'
  | 'lost'
  | 'limits'
  | 'net'
  | 'memory'
  | 'env'
  | 'workdir'
  | 'labels'
  | 'policy'
  | 'sleptAt'
  | 'principal'
  | 'image'
  | 'command'
  | 'hostname'
  | 'instance'
>

function docOf(record: EnvironmentRecord): string {
  const { source, limits, net, memory, env, workdir, labels, hostname, instance } = record
  const { policy, sleptAt, principal, image, command, lost = [] } = record
  const doc: Doc = {
    source,
    limits,
    net,
    env,
    workdir,
    labels,
    hostname,
    instance,
    ...(policy !== undefined && { policy }),
    ...(lost.length > 0 && { lost }),
    ...(sleptAt !== undefined && { sleptAt }),
    ...(principal !== undefined && { principal }),
    ...(memory !== undefined && { memory }),
    ...(image !== undefined && { image }),
    ...(command !== undefined && { command }),
  }
  return JSON.stringify(doc)
}

/** Environments come and go, also through other processes, so only the documents parsed last are kept. */
const mostKnown = 1000

/** Every command reads its environment's row, which rarely changes; then its document is parsed once. */
function rowReader(): (row: Row) => EnvironmentRecord {
  const known = new Map<EnvironmentId, { readonly text: string; readonly doc: Doc }>()
  return (row) => {
    const id = row.id as EnvironmentId
    const text = String(row.doc)
    const before = known.get(id)
    if (before?.text === text) return recordOf(row, before.doc)
    const doc: Doc = JSON.parse(text)
    // A map keeps the order of insertion: the newest go to its end.
    known.delete(id)
    known.set(id, { text, doc })
    const [oldest] = known.keys()
    if (oldest !== undefined && known.size > mostKnown) known.delete(oldest)
    return recordOf(row, doc)
  }
}

/** Only this file writes these rows, and it writes typed records, so reading them needs no check. */
function recordOf(row: Row, doc: Doc): EnvironmentRecord {
  return {
    id: row.id as EnvironmentId,
    name: row.name as Name | null,
    backend: row.backend as EnvironmentRecord['backend'],
    status: row.status as EnvironmentStatus,
    head: row.head as SnapshotId | null,
    createdAt: Number(row.created_at),
    ...doc,
  }
}

function matches(record: EnvironmentRecord, filter: EnvironmentFilter): boolean {
  const statuses = typeof filter.status === 'string' ? [filter.status] : filter.status
  return (
    (statuses === undefined || statuses.includes(record.status)) &&
    carries(record.labels, filter.labels ?? {})
  )
}
