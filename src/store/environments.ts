import type { EnvironmentRecord, EnvironmentStatus } from '../model/environment.ts'
import { NotFoundError } from '../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { Name } from '../model/names.ts'
import { quote } from '../model/quote.ts'
import type { Database, Row } from './database.ts'
import { explainingNames, type Referable, resolveReference } from './references.ts'

export type EnvironmentPatch = Partial<Omit<EnvironmentRecord, 'id' | 'createdAt'>>

export interface EnvironmentFilter {
  readonly status?: EnvironmentStatus | readonly EnvironmentStatus[]
  /** labels that must all be present with these values */
  readonly labels?: Readonly<Record<string, string>>
}

export interface Environments {
  insert(record: EnvironmentRecord): void
  get(id: EnvironmentId): EnvironmentRecord | undefined
  /** By id, name or unique beginning of an id. */
  resolve(ref: string): EnvironmentRecord
  any(): boolean
  /** Oldest first. */
  list(filter?: EnvironmentFilter): EnvironmentRecord[]
  update(id: EnvironmentId, patch: EnvironmentPatch): EnvironmentRecord
  /** Removing what is gone already is no error: recovery may repeat a step. */
  remove(id: EnvironmentId): void
}

const referable: Referable = {
  table: 'environments',
  noun: 'environment',
  letter: 'e',
  listing: 'forkpoint ls',
  removal: 'forkpoint rm',
}

export function environments(db: Database): Environments {
  const get = (id: EnvironmentId): EnvironmentRecord | undefined => {
    const row = db.get('SELECT * FROM environments WHERE id = ?', id)
    return row && fromRow(row)
  }
  return {
    get,
    insert: (record) => {
      const sql =
        'INSERT INTO environments (id, name, backend, status, head, created_at, doc) ' +
        'VALUES (?, ?, ?, ?, ?, ?, ?)'
      const { id, name, backend, status, head, createdAt } = record
      explainingNames(db, referable, name, () =>
        db.run(sql, id, name, backend, status, head, createdAt, docOf(record)),
      )
    },
    resolve: (ref) => fromRow(resolveReference(db, referable, ref)),
    any: () => db.get('SELECT 1 FROM environments LIMIT 1') !== undefined,
    list: (filter = {}) =>
      db
        .all('SELECT * FROM environments ORDER BY created_at, id')
        .map(fromRow)
        .filter((record) => matches(record, filter)),
    update: (id, patch) =>
      db.transaction(() => {
        const current = get(id)
        if (current === undefined) throw new NotFoundError(`no environment ${quote(id)}`)
        const next = { ...current, ...patch }
        const sql =
          'UPDATE environments SET name = ?, backend = ?, status = ?, head = ?, doc = ? WHERE id = ?'
        explainingNames(db, referable, next.name, () =>
          db.run(sql, next.name, next.backend, next.status, next.head, docOf(next), id),
        )
        return next
      }),
    remove: (id) => {
      db.run('DELETE FROM environments WHERE id = ?', id)
    },
  }
}

type Doc = Pick<
  EnvironmentRecord,
  'source' | 'limits' | 'net' | 'memory' | 'env' | 'workdir' | 'labels' | 'hostname' | 'instance'
>

function docOf(record: EnvironmentRecord): string {
  const { source, limits, net, memory, env, workdir, labels, hostname, instance } = record
  const doc: Doc = {
    ...{ source, limits, net, env, workdir, labels, hostname, instance },
    ...(memory !== undefined && { memory }),
  }
  return JSON.stringify(doc)
}

/** Only this room writes these rows, so what comes out is what a typed record went in as. */
function fromRow(row: Row): EnvironmentRecord {
  const doc: Doc = JSON.parse(String(row.doc))
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
    Object.entries(filter.labels ?? {}).every(([key, value]) => record.labels[key] === value)
  )
}
