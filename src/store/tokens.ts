import { hash } from 'node:crypto'
import { ConflictError, NotFoundError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'
import { isScope, type Scope } from '../model/values/scopes.ts'
import type { Database, Row } from './database.ts'
import { isUniqueViolation } from './sqlite-errors.ts'

/** A token, without the secret: only its digest is stored. */
export interface TokenRecord {
  readonly id: string
  readonly name: string | null
  /** SHA-256 of the secret, in hexadecimal */
  readonly digest: string
  /** what it begins with */
  readonly form: 'fp' | 'e2b'
  readonly scope: Scope
  /** it only reaches what carries all of these */
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly expiresAt: number | null
}

export interface Tokens {
  insert(record: TokenRecord): void
  get(id: string): TokenRecord | undefined
  /** By id or name. */
  resolve(reference: string): TokenRecord
  /** Oldest first. */
  list(): TokenRecord[]
  replaceDigest(id: string, digest: string): void
  remove(id: string): void
}

export function tokens(db: Database): Tokens {
  return {
    insert: (record) => insert(db, record),
    get: (id) => optional(db.get('SELECT * FROM tokens WHERE id = ?', id)),
    resolve: (reference) => {
      const row = db.get('SELECT * FROM tokens WHERE id = ?1 OR name = ?1', reference)
      if (row !== undefined) return fromRow(row)
      throw new NotFoundError(`no token ${quote(reference)}`, {
        remedy: '`forkpoint token ls` lists them',
      })
    },
    list: () => db.all('SELECT * FROM tokens ORDER BY created_at, rowid').map(fromRow),
    replaceDigest: (id, digest) =>
      void db.run('UPDATE tokens SET digest = ? WHERE id = ?', digest, id),
    remove: (id) => void db.run('DELETE FROM tokens WHERE id = ?', id),
  }
}

/** Secrets are random and long, so one round of a fast hash keeps them. */
export function digestOf(secret: string): string {
  return hash('sha256', secret)
}

function insert(db: Database, record: TokenRecord): void {
  try {
    db.run(
      `INSERT INTO tokens (id, name, digest, form, scope, labels, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      record.id,
      record.name,
      record.digest,
      record.form,
      record.scope,
      JSON.stringify(record.labels),
      record.createdAt,
      record.expiresAt,
    )
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new ConflictError(`the name ${quote(record.name)} is taken by another token`, {
      remedy: 'choose another name, or remove that token',
      cause: error,
    })
  }
}

function optional(row: Row | undefined): TokenRecord | undefined {
  return row && fromRow(row)
}

function fromRow(row: Row): TokenRecord {
  return {
    id: String(row.id),
    name: row.name as string | null,
    digest: String(row.digest),
    form: row.form === 'e2b' ? 'e2b' : 'fp',
    // A scope of a later version grants as little as possible.
    scope: isScope(row.scope) ? row.scope : 'read',
    labels: JSON.parse(String(row.labels)),
    createdAt: Number(row.created_at),
    expiresAt: row.expires_at as number | null,
  }
}
