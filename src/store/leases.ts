import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessIdentity, selfIdentity } from '../linux/process-identity.ts'
import { ConflictError } from '../model/errors.ts'
import { formatAge, formatDuration } from '../model/values/quantities.ts'
import type { Database } from './database.ts'
import { ownerOf } from './owner.ts'

/** The exclusive right to something, such as `env:<id>`, `volume` or `net`, until it is given up. */
export interface Lease extends Disposable, AsyncDisposable {
  readonly resource: string
  /** Disposing of it does the same. */
  giveUp(): void
  /** False once it was given up, or somebody seized the resource. */
  isHeld(): boolean
  /** Throws if it is no longer held. Part of every commit that relies on it. */
  requireHeld(): void
}

export interface LeaseHolder {
  readonly resource: string
  /** random for every holder, so that two operations of one process exclude each other too */
  readonly token: string
  readonly owner: ProcessIdentity
  readonly acquiredAt: number
  /** what the holder is doing, for whoever waits */
  readonly what: string
}

export interface SeizedLease extends Lease {
  /** the previous holder, if it is still alive */
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
   * The same, but takes it even from a live holder that keeps it too long: it may be stuck.
   * Such a holder finds out before it commits anything.
   */
  seize(resource: string, what: string, options?: AcquireOptions): Promise<SeizedLease>
  /** Undefined if somebody else holds it now. */
  tryAcquire(resource: string, what: string): Lease | undefined
  holder(resource: string): LeaseHolder | undefined
  /** what is currently held through this store */
  held(): string[]
  giveUpAll(): void
}

/** Longer than any operation on an environment should hold it, shorter than a user's patience. */
const defaultTimeoutMs = 30_000
const shortestPauseMs = 5
const longestPauseMs = 50

export function leases(db: Database): Leases {
  return new StoredLeases(db)
}

class StoredLeases implements Leases {
  readonly #db: Database
  readonly #held = new Set<Lease>()

  constructor(db: Database) {
    this.#db = db
  }

  holder(resource: string): LeaseHolder | undefined {
    const row = this.#db.get('SELECT * FROM leases WHERE resource = ?', resource)
    if (row === undefined) return undefined
    return {
      resource,
      token: String(row.token),
      owner: ownerOf(row),
      acquiredAt: Number(row.acquired_at),
      what: String(row.what),
    }
  }

  tryAcquire(resource: string, what: string): Lease | undefined {
    // Reading first keeps waiting processes away from SQLite's write lock.
    const current = this.holder(resource)
    if (current !== undefined && isAlive(current.owner)) return undefined
    return this.#take(resource, what, current)
  }

  async acquire(resource: string, what: string, options: AcquireOptions = {}): Promise<Lease> {
    const { signal, timeoutMs = defaultTimeoutMs } = options
    const deadline = performance.now() + timeoutMs
    for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      signal?.throwIfAborted()
      const lease = this.tryAcquire(resource, what)
      if (lease !== undefined) return lease
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) throw stillHeld(resource, timeoutMs, this.holder(resource))
      // Uneven pauses, so that waiting processes do not collide at every try.
      const unevenMs = pauseMs * (0.5 + Math.random() / 2)
      await pause(Math.min(unevenMs, leftMs), signal)
    }
  }

  async seize(resource: string, what: string, options?: AcquireOptions): Promise<SeizedLease> {
    for (;;) {
      try {
        return { ...(await this.acquire(resource, what, options)), loser: null }
      } catch (error) {
        // Its holder has kept it too long.
        if (!(error instanceof ConflictError)) throw error
      }
      const loser = this.holder(resource)
      const lease = this.#take(resource, what, loser)
      if (lease !== undefined) return { ...lease, loser: loser ?? null }
    }
  }

  held(): string[] {
    return [...this.#held].map(({ resource }) => resource)
  }

  giveUpAll(): void {
    for (const lease of this.#held) lease.giveUp()
  }

  /** Undefined if the holder is no longer `current`. */
  #take(resource: string, what: string, current?: LeaseHolder): Lease | undefined {
    const next = { resource, token: randomUUID(), owner: selfIdentity(), what }
    const taken =
      current === undefined ? insert(this.#db, next) : takeOver(this.#db, next, current.token)
    if (!taken) return undefined
    const lease = heldLease(this.#db, resource, next.token, () => this.#held.delete(lease))
    this.#held.add(lease)
    return lease
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

/** Takes it from a holder that is dead or stuck. Comparing the token lets only one of several heirs succeed. */
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

function heldLease(db: Database, resource: string, token: string, onGivenUp: () => void): Lease {
  let isGivenUp = false
  const giveUp = (): void => {
    if (isGivenUp) return
    db.run('DELETE FROM leases WHERE resource = ? AND token = ?', resource, token)
    isGivenUp = true
    onGivenUp()
  }
  const isHeld = (): boolean =>
    !isGivenUp &&
    db.get('SELECT 1 FROM leases WHERE resource = ? AND token = ?', resource, token) !== undefined
  return {
    resource,
    giveUp,
    isHeld,
    requireHeld: () => {
      if (!isHeld()) throw seized(resource)
    },
    [Symbol.dispose]: giveUp,
    [Symbol.asyncDispose]: async () => giveUp(),
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal && { signal })
  } catch (error) {
    // The caller's own reason, without the timer's AbortError around it.
    throw signal?.aborted ? signal.reason : error
  }
}

function seized(resource: string): ConflictError {
  return new ConflictError(`${resource} was taken over: it is being removed`, {
    remedy: 'check who ran `forkpoint rm`; if it should still exist, create it again',
    detail: { resource },
  })
}

function stillHeld(resource: string, waitedMs: number, holder?: LeaseHolder): ConflictError {
  const waited = `after waiting ${formatDuration(waitedMs)}`
  if (holder === undefined) {
    return new ConflictError(`${resource} is in use, ${waited}`, {
      remedy: 'try again when the other process is done',
    })
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
