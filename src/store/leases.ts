import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessIdentity, selfIdentity } from '../linux/process-identity.ts'
import { ConflictError } from '../model/errors.ts'
import { formatAge, formatDuration } from '../model/quantities.ts'
import type { Database } from './database.ts'
import { ownerOf } from './owner.ts'

/** The exclusive right to something, such as `env:<id>`, `volume` or `net`, until it is disposed. */
export interface Lease extends Disposable, AsyncDisposable {
  readonly resource: string
  release(): void
  /** False once it was released, or somebody has seized the resource. */
  isHeld(): boolean
  /** Throws if it is not held any more. Part of every commit that relies on it. */
  requireHeld(): void
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

export interface SeizedLease extends Lease {
  /** who had it, if that one still lives */
  readonly loser: LeaseHolder | null
}

export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

export interface Leases {
  /** Waits until the resource is free, or its holder has died. */
  acquire(resource: string, what: string, options?: AcquireOptions): Promise<Lease>
  /**
   * The same, but takes it even from a holder that lives, if that keeps it too long: it may be stuck.
   * Such a holder finds out before it commits anything.
   */
  seize(resource: string, what: string, options?: AcquireOptions): Promise<SeizedLease>
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
    return take(resource, what, current)
  }

  /** Undefined if the holder is not `current` any more. */
  const take = (resource: string, what: string, current?: LeaseHolder): Lease | undefined => {
    const next = { resource, token: randomUUID(), owner: selfIdentity(), what }
    const taken = current === undefined ? insert(db, next) : takeOver(db, next, current.token)
    if (!taken) return undefined
    const lease = heldLease(db, resource, next.token, () => held.delete(lease))
    held.add(lease)
    return lease
  }

  const acquire: Leases['acquire'] = async (resource, what, options = {}) => {
    const { signal, timeoutMs = defaultTimeoutMs } = options
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
  }

  return {
    holder,
    tryAcquire,
    acquire,
    seize: async (resource, what, options) => {
      for (;;) {
        try {
          return { ...(await acquire(resource, what, options)), loser: null }
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
        }
        const loser = holder(resource)
        const lease = take(resource, what, loser)
        if (lease !== undefined) return { ...lease, loser: loser ?? null }
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

/** From a holder that is dead or stuck. Its token is compared, so that of several heirs only one succeeds. */
function takeOver(db: Database, next: NewHolder, currentToken: string): boolean {
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
    currentToken,
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
  const isHeld = (): boolean =>
    !released &&
    db.get('SELECT 1 FROM leases WHERE resource = ? AND token = ?', resource, token) !== undefined
  return {
    resource,
    release,
    isHeld,
    requireHeld: () => {
      if (!isHeld()) throw seized(resource)
    },
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

function seized(resource: string): ConflictError {
  return new ConflictError(`${resource} was taken away: it is being removed`, {
    remedy: 'nothing is to be done, unless it should not have been removed',
    detail: { resource },
  })
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
