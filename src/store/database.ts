import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { ForkpointError, PrerequisiteError } from '../model/errors.ts'
import { migrate } from './migrations.ts'
import { isBusy, translated } from './sqlite-errors.ts'

export type Row = Readonly<Record<string, unknown>>

/** The database, as the other files of the store use it. */
export interface Database {
  /** Runs a statement that changes something; returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number
  get(sql: string, ...values: SQLInputValue[]): Row | undefined
  all(sql: string, ...values: SQLInputValue[]): Row[]
  /** All or nothing. Within another transaction, `work` becomes part of that one. */
  transaction<T>(work: () => T): T
  close(): void
}

/** How long a statement waits for another process's transaction; ours take less than 1 ms. */
const busyTimeoutMs = 5000

export function openDatabase(path: string): Database {
  const handle = openHandle(path)
  // Preparing a statement costs more than running it, and most commands need only a few.
  const prepared = new Map<string, StatementSync>()
  const statement = (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const fresh = handle.prepare(sql)
    prepared.set(sql, fresh)
    return fresh
  }
  return {
    run: (sql, ...values) => guarded(path, () => Number(statement(sql).run(...values).changes)),
    get: (sql, ...values) => guarded(path, () => statement(sql).get(...values)),
    all: (sql, ...values) => guarded(path, () => statement(sql).all(...values)),
    transaction: (work) => guarded(path, () => transaction(handle, work)),
    close: () => {
      prepared.clear()
      if (handle.isOpen) handle.close()
    },
  }
}

function transaction<T>(handle: DatabaseSync, work: () => T): T {
  if (handle.isTransaction) return work()
  // IMMEDIATE: a transaction that reads first and writes later could not wait for another writer.
  handle.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    handle.exec('COMMIT')
    return result
  } catch (error) {
    if (handle.isTransaction) handle.exec('ROLLBACK')
    throw error
  }
}

function openHandle(path: string): DatabaseSync {
  let handle: DatabaseSync | undefined
  try {
    createPrivately(path)
    handle = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
    enterWal(handle)
    // With WAL, NORMAL loses at most the last transactions in a power cut, and never consistency.
    handle.exec('PRAGMA synchronous = NORMAL')
    migrate(handle, path)
    return handle
  } catch (error) {
    if (handle?.isOpen) handle.close()
    const known = translated(error, path)
    if (known instanceof ForkpointError) throw known
    throw new PrerequisiteError(`cannot open the store ${path}: ${(error as Error).message}`, {
      remedy: 'run as root, or set FORKPOINT_HOME to another directory',
      cause: error,
    })
  }
}

/** SQLite would create the file, and its -wal and -shm files, readable by everyone. */
function createPrivately(path: string): void {
  // 0711: root users of cells can pass through to their own files, but list nothing.
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 })
  try {
    // Only ever a new file: closing any descriptor of an open database would drop the POSIX locks
    // that this process's other connections hold on it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Journal mode is a property of the file, so only the first opening of a store changes it. */
function enterWal(handle: DatabaseSync): void {
  const deadline = Date.now() + busyTimeoutMs
  for (;;) {
    try {
      if (handle.prepare('PRAGMA journal_mode').get()?.journal_mode === 'wal') return
      handle.exec('PRAGMA journal_mode = WAL')
    } catch (error) {
      // SQLite does not apply its busy timeout while two connections both try to change the mode.
      if (!isBusy(error) || Date.now() > deadline) throw error
      sleepSync(5)
    }
  }
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw translated(error, path)
  }
}
