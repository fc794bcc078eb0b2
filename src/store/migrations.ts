import type { DatabaseSync } from 'node:sqlite'
import { PrerequisiteError } from '../model/errors.ts'

/**
 * Steps from an empty database to the current one. A step that was released is never edited; the
 * database's `user_version` is the number of steps it has had.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE snapshots (
    id TEXT PRIMARY KEY,
    name TEXT UNIQUE,
    -- not a reference: snapshots outlive the environment they came from
    environment_id TEXT NOT NULL,
    -- references refuse to remove what another snapshot or an environment builds on
    parent TEXT REFERENCES snapshots (id),
    status TEXT NOT NULL,
    durable INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    doc TEXT NOT NULL
  ) STRICT;
  CREATE INDEX snapshots_by_environment ON snapshots (environment_id);
  CREATE INDEX snapshots_by_parent ON snapshots (parent);

  CREATE TABLE environments (
    id TEXT PRIMARY KEY,
    name TEXT UNIQUE,
    backend TEXT NOT NULL,
    status TEXT NOT NULL,
    head TEXT REFERENCES snapshots (id),
    created_at INTEGER NOT NULL,
    doc TEXT NOT NULL
  ) STRICT;
  CREATE INDEX environments_by_head ON environments (head);

  CREATE TABLE journal (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- not a reference: the record of a removal stays
    environment_id TEXT,
    state TEXT NOT NULL,
    phase TEXT,
    payload TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    owner_boot TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    error TEXT
  ) STRICT;
  -- opening the store asks for the open rows only, however long the history is
  CREATE INDEX journal_open ON journal (started_at) WHERE state = 'open';
  CREATE INDEX journal_by_environment ON journal (environment_id);

  CREATE TABLE leases (
    resource TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    owner_boot TEXT NOT NULL,
    acquired_at INTEGER NOT NULL,
    what TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE spares (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- not references: they never keep a snapshot or an environment from being removed
    snapshot TEXT NOT NULL,
    environment_id TEXT NOT NULL,
    state TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    owner_boot TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,
    doc TEXT NOT NULL
  ) STRICT;
  CREATE INDEX spares_by_snapshot ON spares (snapshot);
  `,
]

/** Brings the database up to date; of several processes at once, one does it and the rest wait. */
export function migrate(handle: DatabaseSync, path: string): void {
  if (checkedVersion(handle, path) === migrations.length) return
  handle.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have done it while this one waited for the lock.
    for (const step of migrations.slice(checkedVersion(handle, path))) handle.exec(step)
    handle.exec(`PRAGMA user_version = ${migrations.length}`)
    handle.exec('COMMIT')
  } catch (error) {
    if (handle.isTransaction) handle.exec('ROLLBACK')
    throw error
  }
}

function checkedVersion(handle: DatabaseSync, path: string): number {
  const version = Number(handle.prepare('PRAGMA user_version').get()?.user_version)
  if (version <= migrations.length) return version
  throw new PrerequisiteError(
    `the store ${path} was written by a newer forkpoint ` +
      `(its format is ${version}, this one knows ${migrations.length})`,
    { remedy: 'upgrade forkpoint, or use another home with FORKPOINT_HOME' },
  )
}
