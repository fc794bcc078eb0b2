import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConflictError } from '../model/errors.ts'
import { formatAge, formatDuration } from '../model/quantities.ts'
import { isAlive, type ProcessIdentity, selfIdentity } from '../system/process-identity.ts'
import type { Database } from './database.ts'
import { ownerOf } from './owner.ts'

/** The exclusive right to something, such as `env:<id>`, `volume` or `net`, until it is disposed. */
export interface Lease extends Disposable, AsyncDisposable {
  readonly resource: string
  release(): void
}

export interface LeaseHolder {
  readonly resource: string
  /** random for every holder, so that two operations of one process exclude each other too */
  readonly token: string
  readonly owner: ProcessIdentity
  readonly acquiredAt: number
  /** what the holder is doing, for the one who waits */
  readonly what: string
}

export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

export interface Leases {
  /** Waits until the resource is free, or its holder has died. */
  acquire(resource: string, what: string, options?: AcquireOptions): Promise<Lease>
  /** Undefined if somebody else holds it now. */
  tryAcquire(resource: string, what: string): Lease | undefined
  holder(resource: string): LeaseHolder | undefined
  /** what is held through this store now */
  held(): string[]
  releaseAll(): void
}

/** Longer than any operation on an environment should hold it, shorter than a user's patience. */
const defaultTimeoutMs = 30_000
const shortestPauseMs = 5
const longestPauseMs = 50

export function leases(db: Database): Leases {
  const held = new Set<Lease>()

  const holder = (resource: string): LeaseHolder | undefined => {
    const row = db.get('SELECT * FROM leases WHERE resource = ?', resource)
    if (row === undefined) return undefined
    return {
      resource,
      token: String(row.token),
      owner: ownerOf(row),
      acquiredAt: Number(row.acquired_at),
      what: String(row.what),
    }
  }

  const tryAcquire = (resource: string, what: string): Lease | undefined => {
    // Reading first keeps those who wait from taking turns at SQLite's write lock.
    const current = holder(resource)
    if (current !== undefined && isAlive(current.owner)) return undefined
    const next = { resource, token: randomUUID(), owner: selfIdentity(), what }
    const taken = current === undefined ? insert(db, next) : takeOver(db, next, current.token)
    if (!taken) return undefined
    const lease = heldLease(db, resource, next.token, () => held.delete(lease))
    held.add(lease)
    return lease
  }

  return {
    holder,
    tryAcquire,
    acquire: async (resource, what, { signal, timeoutMs = defaultTimeoutMs } = {}) => {
      const deadline = performance.now() + timeoutMs
      for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        signal?.throwIfAborted()
        const lease = tryAcquire(resource, what)
        if (lease !== undefined) return lease
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) throw stillHeld(resource, timeoutMs, holder(resource))
        // Uneven pauses, so that those who wait do not meet again at every try.
        const unevenMs = pauseMs * (0.5 + Math.random() / 2)
        await pause(Math.min(unevenMs, leftMs), signal)
      }
    },
    held: () => [...held].map(({ resource }) => resource),
    releaseAll: () => {
      for (const lease of held) lease.release()
    },
  }
}

type NewHolder = Omit<LeaseHolder, 'acquiredAt'>

function insert(db: Database, next: NewHolder): boolean {
  const changed = db.run(
    `INSERT INTO leases (resource, token, owner_pid, owner_start, owner_boot, acquired_at, what)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    next.resource,
    next.token,
    next.owner.pid,
    next.owner.startTicks,
    next.owner.bootId,
    Date.now(),
    next.what,
  )
  return changed === 1
}

/** From a dead holder. Its token is compared, so that of several heirs only one succeeds. */
function takeOver(db: Database, next: NewHolder, deadToken: string): boolean {
  const changed = db.run(
    `UPDATE leases
     SET token = ?, owner_pid = ?, owner_start = ?, owner_boot = ?, acquired_at = ?, what = ?
     WHERE resource = ? AND token = ?`,
    next.token,
    next.owner.pid,
    next.owner.startTicks,
    next.owner.bootId,
    Date.now(),
    next.what,
    next.resource,
    deadToken,
  )
  return changed === 1
}

function heldLease(db: Database, resource: string, token: string, onRelease: () => void): Lease {
  let released = false
  const release = (): void => {
    if (released) return
    db.run('DELETE FROM leases WHERE resource = ? AND token = ?', resource, token)
    released = true
    onRelease()
  }
  return {
    resource,
    release,
    [Symbol.dispose]: release,
    [Symbol.asyncDispose]: async () => release(),
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal && { signal })
  } catch (error) {
    // The caller's own reason, rather than the timer's AbortError around it.
    throw signal?.aborted ? signal.reason : error
  }
}

function stillHeld(resource: string, waitedMs: number, holder?: LeaseHolder): ConflictError {
  const waited = `after waiting ${formatDuration(waitedMs)}`
  if (holder === undefined) {
    return new ConflictError(`${resource} is in use, ${waited}`, { remedy: 'try again' })
  }
  const { owner, what, acquiredAt } = holder
  const since = `for ${formatAge(acquiredAt, Date.now())}`
  return new ConflictError(
    `${resource} is in use by process ${owner.pid} (${what}) ${since}, ${waited}`,
    {
      remedy: 'try again when it is done, or end that process',
      detail: { resource, pid: owner.pid, what, acquiredAt },
    },
  )
}
