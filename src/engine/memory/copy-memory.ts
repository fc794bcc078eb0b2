import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from '../../linux/memory-pressure.ts'
import { ResourceError } from '../../model/errors.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import type { SpareFilter } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { type GiveUp, giveUpSpares } from '../spares/discard.ts'
import { copiesAtOnce, type Demand, type Fit, fitOf, freeBytes, neededBytes } from './fitting.ts'

/** Memory for copies of one snapshot, reserved until they are made. Disposing of it gives up the rest. */
export interface CopyMemory extends Disposable {
  /** Makes one copy in it. Reserves more first if nothing is left, as after a spare that was of no use. */
  fill<T>(make: () => Promise<T>): Promise<T>
  /** How many of at most `most` may be made at the same time. */
  atOnce(most: number): number
}

export interface CopyOptions {
  /** how many will be made */
  readonly count: number
  /** spares that are not given up to make room, because they are wanted now */
  readonly keep?: SpareFilter
  /** how long to wait for others that make copies, if none of them gets anywhere */
  readonly patienceMs?: number
}

type Copied = Pick<SnapshotRecord, 'id' | 'name' | 'memory'>
type Reserving = Pick<Engine, 'store'>

/** Longer than it takes to make one large copy on a slow disk. */
const defaultPatienceMs = 30_000
const pollMs = 20
/** Reserving costs a transaction, and so little makes no difference. */
const fewBytes = 16 * 1024 * 1024

/**
 * Makes sure that copies of a snapshot fit into this machine's memory, before anything is made: later the
 * kernel would end whatever process is largest. Waits for others that make copies now, and gives up spares.
 */
export async function reserveCopies(
  engine: Engine,
  snapshot: Copied,
  options: CopyOptions,
): Promise<CopyMemory> {
  const { count, patienceMs = defaultPatienceMs, keep } = options
  const id = randomUUID()
  const each = neededBytes(snapshot)
  let tried = tryReserve(engine, id, each * count)
  let deadline = performance.now() + patienceMs
  for (let hasMadeRoom = false; tried.fit !== 'now'; ) {
    const before = tried.reservedBytes
    if (tried.fit === 'later' && performance.now() < deadline) await sleep(pollMs)
    else if (hasMadeRoom) throw tooLarge(snapshot, count, tried)
    else {
      hasMadeRoom = true
      await makeRoom(engine, { bytes: lacking(tried), keep })
    }
    tried = tryReserve(engine, id, each * count)
    if (tried.reservedBytes < before) deadline = performance.now() + patienceMs
  }
  const more = () => reserveCopies(engine, snapshot, { ...options, count: 1 })
  return new Reserved(engine, { id, each, count, freeBytes: besides(tried), more })
}

/** Lives that were replaced end a little after they were; spares that are ready can be made again. */
async function makeRoom(engine: Engine, missing: GiveUp): Promise<void> {
  await engine.background.all()
  await giveUpSpares(engine, missing)
}

function lacking({ neededBytes: needed, freeBytes: free, reservedBytes }: Demand): number {
  return needed + reservedBytes - free
}

/** The same for one copy that nobody waits for: null if it does not fit now. */
export function tryReserveCopy(engine: Engine, snapshot: Copied): CopyMemory | null {
  const id = randomUUID()
  const each = neededBytes(snapshot)
  const tried = tryReserve(engine, id, each)
  if (tried.fit !== 'now') return null
  const more = () => reserveCopies(engine, snapshot, { count: 1 })
  return new Reserved(engine, { id, each, count: 1, freeBytes: besides(tried), more })
}

/** What is free besides the copies of others. */
function besides({ freeBytes: free, reservedBytes }: Demand): number {
  return free - reservedBytes
}

interface Tried extends Demand {
  readonly fit: Fit
}

/** In one transaction, so that no other process is promised the same memory. */
function tryReserve({ store }: Reserving, id: string, needed: number): Tried {
  const read = (reservedBytes: number): Tried => {
    const demand = { neededBytes: needed, freeBytes: freeBytes(readMemory()), reservedBytes }
    return { ...demand, fit: fitOf(demand) }
  }
  // Nothing is copied, for example because a spare is ready.
  if (needed === 0) return { neededBytes: 0, freeBytes: 0, reservedBytes: 0, fit: 'now' }
  const alone = read(0)
  if (needed < fewBytes || alone.fit === 'never') return alone
  return store.transaction(() => {
    const tried = read(store.reservations.totalBytes())
    if (tried.fit === 'now') store.reservations.set(id, needed)
    return tried
  })
}

interface ReservedFacts {
  readonly id: string
  /** bytes of one copy */
  readonly each: number
  readonly count: number
  /** when it was reserved */
  readonly freeBytes: number
  readonly more: () => Promise<CopyMemory>
}

class Reserved implements CopyMemory {
  readonly #engine: Reserving
  readonly #facts: ReservedFacts
  readonly #isRecorded: boolean
  /** copies that nobody has begun to make */
  #left: number
  /** copies that are being made */
  #making = 0

  constructor(engine: Reserving, facts: ReservedFacts) {
    this.#engine = engine
    this.#facts = facts
    this.#left = facts.count
    this.#isRecorded = facts.each * facts.count >= fewBytes
  }

  async fill<T>(make: () => Promise<T>): Promise<T> {
    if (this.#left === 0) {
      using memory = await this.#facts.more()
      return await memory.fill(make)
    }
    this.#left -= 1
    this.#making += 1
    try {
      return await make()
    } finally {
      this.#making -= 1
      this.#record()
    }
  }

  atOnce(most: number): number {
    const { each, freeBytes: free } = this.#facts
    return copiesAtOnce({ neededBytes: each, freeBytes: free, most })
  }

  [Symbol.dispose](): void {
    this.#left = 0
    this.#record()
  }

  #record(): void {
    if (!this.#isRecorded) return
    const { id, each } = this.#facts
    this.#engine.store.reservations.set(id, each * (this.#left + this.#making))
  }
}

function tooLarge(snapshot: Copied, count: number, demand: Demand): ResourceError {
  const { neededBytes: needed, freeBytes: free, reservedBytes: reserved } = demand
  const whom = count === 1 ? 'a copy' : `${count} copies`
  const others =
    reserved > 0 ? `, of which copies that others are making take ${formatBytes(reserved)}` : ''
  const message = `${whom} of snapshot ${snapshot.name ?? snapshot.id} would take ${formatBytes(needed)} of memory, and ${formatBytes(free)} are free${others}`
  return new ResourceError(message, {
    remedy: 'make fewer copies, remove or `pause --release` environments, or add memory',
    detail: { neededBytes: needed, freeBytes: free, reservedBytes: reserved },
  })
}
