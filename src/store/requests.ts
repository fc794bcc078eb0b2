import { AsyncLocalStorage } from 'node:async_hooks'
import { isAlive, selfIdentity } from '../linux/process-identity.ts'
import type { Database } from './database.ts'
import { ownerOf } from './owner.ts'

/** How long an answer is kept for a retry. */
const keptMs = 24 * 60 * 60 * 1000

/** `mine`: this process carries it out. `abandoned`: the same, but another was killed while it did. */
export type Begun =
  | { readonly state: 'mine' | 'abandoned' | 'elsewhere' | 'other-input' }
  | { readonly state: 'done'; readonly outcome: unknown }

/** Requests with a key, each of which is carried out once. */
export interface Requests {
  begin(key: string, digest: string): Begun
  finish(key: string, outcome: unknown): void
  /** Nothing of it happened, so that a retry carries it out. */
  forget(key: string): void
}

const current = new AsyncLocalStorage<string>()

/** Runs `work` as part of a request; the journal records which. */
export function withinRequest<T>(key: string, work: () => Promise<T>): Promise<T> {
  return current.run(key, work)
}

/** The request that the caller works for. */
export function currentRequest(): string | null {
  return current.getStore() ?? null
}

export function requests(db: Database): Requests {
  return {
    begin: (key, digest) => db.transaction(() => begin(db, key, digest)),
    finish: (key, outcome) =>
      void db.run('UPDATE requests SET outcome = ? WHERE key = ?', JSON.stringify(outcome), key),
    forget: (key) => void db.run('DELETE FROM requests WHERE key = ?', key),
  }
}

function begin(db: Database, key: string, digest: string): Begun {
  const known = db.get('SELECT * FROM requests WHERE key = ?', key)
  if (known === undefined) {
    db.run('DELETE FROM requests WHERE created_at < ?', Date.now() - keptMs)
    own(db, key, digest)
    return { state: 'mine' }
  }
  if (known.digest !== digest) return { state: 'other-input' }
  if (known.outcome !== null) return { state: 'done', outcome: JSON.parse(String(known.outcome)) }
  if (isAlive(ownerOf(known))) return { state: 'elsewhere' }
  own(db, key, digest)
  return { state: 'abandoned' }
}

function own(db: Database, key: string, digest: string): void {
  const { pid, startTicks, bootId } = selfIdentity()
  db.run(
    `INSERT OR REPLACE INTO requests
       (key, digest, owner_pid, owner_start, owner_boot, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    key,
    digest,
    pid,
    startTicks,
    bootId,
    Date.now(),
  )
}
