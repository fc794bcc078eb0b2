import type { DatabaseSync } from 'node:sqlite'
import { PrerequisiteError } from '../model/errors.ts'

/**
 * Steps from an empty database to the current one. Never edit a step that has shipped. The
 * database's `user_version` is the number of steps applied.
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
  `
  CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    owner_boot TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE events (
    -- AUTOINCREMENT: an id is never used again, even after the newest event was dropped
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc TEXT NOT NULL
  ) STRICT;

  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT UNIQUE,
    digest TEXT NOT NULL,
    -- what the token begins with
    form TEXT NOT NULL,
    scope TEXT NOT NULL,
    labels TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT;

  CREATE TABLE requests (
    key TEXT PRIMARY KEY,
    -- of the operation and its input
    digest TEXT NOT NULL,
    -- null while it is under way
    outcome TEXT,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    owner_boot TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX requests_by_age ON requests (created_at);

  -- the request that an operation belongs to, so that a retry finds what a killed process did
  ALTER TABLE journal ADD COLUMN request TEXT;
  CREATE INDEX journal_by_request ON journal (request) WHERE request IS NOT NULL;
  `,
  `
  CREATE TABLE activity (
    environment_id TEXT PRIMARY KEY REFERENCES environments (id) ON DELETE CASCADE,
    at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- commands that have ended; they outlive their environment, as the journal does
  CREATE TABLE ended_commands (
    environment_id TEXT NOT NULL,
    command_id TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (environment_id, ended_at, command_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ended_commands_by_age ON ended_commands (ended_at);
  `,
]

/** Brings the database up to date. Of several processes, one does it and the others wait. */
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
